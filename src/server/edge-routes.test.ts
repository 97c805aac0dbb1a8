import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteDestination } from './edge-routes.ts'

/** The destinations noted for these links, in a network with shop.example. */
function noted(links: readonly { url: string; is_keyless: boolean }[]): string[] {
  const urls: string[] = []
  const publisher = { domains: ['daily.example'], allow_hosts: ['partner.example'] }
  const node = {
    destinations: { note: (_auctionId: string, url: string) => void urls.push(url) },
    edge: {
      market: {
        merchantsByDomain: new Map([['shop.example', 7]]),
        publishers: new Map([[1, publisher]]),
      },
    },
  } as unknown as Parameters<typeof noteDestination>[0]
  for (const link of links) noteDestination(node, { ...link, auction_id: '9', pub_id: 1 })
  return urls
}

test('notes a keyless link only if everyone may be forwarded to its destination', () => {
  const [shop, elsewhere] = ['https://www.shop.example/1', 'https://elsewhere.example/']
  const allowed = [shop, 'https://partner.example/', 'https://daily.example/']
  // Forwarding to them during an outage would be an open redirect, because anybody can create such
  // links.
  const keyless = [...allowed, elsewhere].map((url) => ({ url, is_keyless: true }))
  assert.deepEqual(noted(keyless), allowed)
  assert.deepEqual(noted([{ url: ` ${elsewhere}\n`, is_keyless: false }]), [elsewhere])
})
