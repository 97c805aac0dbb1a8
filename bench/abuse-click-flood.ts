/**
 * Attack: clicks that nobody pays for, from one address, to hold a rival's budget (SECURITY.md).
 *
 * The address runs auctions and clicks their results for ten seconds. Its clicks reserve prices
 * until the fold refuses them. Readers elsewhere run auctions meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { auctionFrom, makeTargets, READERS, winsOfReaders } from './abuse-auction-flood.ts'
import { isReconciled } from './abuse-service.ts'
import { startService } from './service.ts'

const SECONDS = 10
const AT_ONCE = 64
const KEPT_MIN = 0.9

/** Prints what the attack achieves; resolves to whether the bound held. */
export async function floodClicks(): Promise<boolean> {
  await using stack = new AsyncDisposableStack()
  const { base, dataDir } = await startService(stack, {
    // First price, so that each click reserves the bid.
    ...{ RATE_LIMITS: 'auction=2000:10000,redirect=50:200', PRICING: 'first_price' },
    TRUSTED_PROXIES: '127.0.0.1',
  })
  const [, target] = await makeTargets(dataDir)
  if (target === undefined) throw new Error('no campaign to attack')
  await sleep(4_000) // Campaigns reach the edge within 2 s, leases a second later.
  const { dollars, auctionId } = target
  let isOver = false
  let clicks = 0
  const attackers = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver) {
      const { path, headers } = auctionFrom('203.0.113.66', auctionId)
      const answer = (await (await fetch(base + path, { headers })).json()) as {
        data: [{ auction_result: { redirect_url: string } }]
      }
      await sleep(350) // No person clicks sooner.
      const { pathname, search } = new URL(answer.data[0].auction_result.redirect_url)
      await (await fetch(base + pathname + search, { headers, redirect: 'manual' })).arrayBuffer()
      clicks += 1
    }
  })
  let [asked, won] = [0, 0]
  const untilMs = performance.now() + SECONDS * 1_000
  for (let turn = 1; performance.now() < untilMs; turn++) {
    won += await winsOfReaders(base, auctionId, turn % 200)
    asked += READERS
  }
  isOver = true
  await Promise.all(attackers)
  console.log(
    `click flood, $${dollars} a day: ${clicks} clicks in ${SECONDS} s from one address; of ${asked} ` +
      `auctions readers elsewhere won ${won}`,
  )
  return (await isReconciled(dataDir)) && won >= KEPT_MIN * asked
}
