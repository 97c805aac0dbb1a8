import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feedText } from './feeds.ts'
import { MERCHANTS, offersOf } from './network.ts'
import { CATEGORIES, taxonomyOf } from './products.ts'

test('every listing of the demo has its category, in every feed format', () => {
  const siteOf = {
    shop: (slug: string) => `https://${slug}.example`,
    picture: (gtin: string) => `https://pictures.example/${gtin}`,
  }
  for (const merchant of MERCHANTS) {
    const feed = feedText(merchant, siteOf)
    const offers = Map.groupBy(offersOf(merchant), ({ product }) => product.category)
    for (const category of CATEGORIES) {
      const [first, ...rest] = offers.get(category) ?? []
      if (first === undefined) continue
      // The last word of the path, because each format writes the separators its own way.
      const word = taxonomyOf(first.product).split(' > ').at(-1) ?? ''
      assert.ok(feed.split(word).length - 1 >= rest.length + 1, `${merchant.slug}: ${word}`)
    }
  }
})
