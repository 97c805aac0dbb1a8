import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteDestination } from './edge-routes.ts'

/** The addresses noted of links to these addresses; the network has shop.example. */
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

test('a link that nobody vouched for is remembered only where everyone may be forwarded to', () => {
  const [shop, elsewhere] = ['https://www.shop.example/1', 'https://elsewhere.example/']
  const allowed = [shop, 'https://partner.example/', 'https://daily.example/']
  // Led on while storage is away, by an address that anybody can make: an open redirector.
  const keyless = [...allowed, elsewhere].map((url) => ({ url, is_keyless: true }))
  assert.deepEqual(noted(keyless), allowed)
  assert.deepEqual(noted([{ url: ` ${elsewhere}\n`, is_keyless: false }]), [elsewhere])
})
