import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offerButton } from './offer-button.ts'

test('a button escapes the names of merchants and their links', () => {
  const offer = {
    ...{ merch_id: 1, merchant_name: '<b>Cups & Co', title: 'Cup', url: 'https://cups.example/1' },
    ...{ price: '9.9', in_stock: true, best_effort_cpc: 0.2 },
    clickmate_link: 'https://go.example/link/?url=a&x="1"',
  }
  assert.equal(
    offerButton([offer]),
    `<div class="souk-offers">
  <a href="https://go.example/link/?url=a&amp;x=&quot;1&quot;" rel="sponsored nofollow">$9.90 at &lt;b&gt;Cups &amp; Co</a>
</div>`,
  )
})
