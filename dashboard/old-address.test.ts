import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upgradeAddress } from './old-address.ts'

const HOST = 'https://souk.example/dashboard'

test('URLs of earlier versions name the organization of their page', () => {
  for (const [old, present] of [
    ['/?pub=7&from=2026-01-01', '/?from=2026-01-01&org=publisher-7'],
    ['/merchant?merch=3', '/merchant?org=merchant-3'],
    ['/merchant/?pub=7&merch=3', '/merchant/?org=merchant-3'],
    ['/clicks?pub=7&merch=3', '/clicks?org=publisher-7'],
    ['/members?pub=7&org=network', '/members?org=network'],
    ['/links?org=publisher-7#top', '/links?org=publisher-7#top'],
  ] as const) {
    assert.equal(upgradeAddress(HOST + old), HOST + present)
  }
})
