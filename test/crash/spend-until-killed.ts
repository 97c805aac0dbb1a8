/**
 * A whole node that spends budgets as fast as its leases allow, until it is killed or stopped. Run
 * by budget-kill.test.ts with a configuration and the campaigns to spend.
 *
 * Prints `ready`, then the id of each click whose append has resolved, which a reader would have
 * been promised.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { REDIRECT_TIMEOUT_MS } from '../../src/events/durable-append.ts'
import { EVENT_TYPE, MODEL, MONEY_LANE, newEvent } from '../../src/events/event.ts'
import { untilStopped } from '../../src/main.ts'
import { readConfig } from '../../src/node/config.ts'
import { type Node, openNode } from '../../src/node/node.ts'
import { makeLogger } from '../../src/platform/process/log.ts'
import { startApp } from '../../src/server/app.ts'

/** Concurrent clicks; together far more than any budget here lasts for. */
const READERS = 4
/** Between two clicks of a reader, and after one that no lease could pay. */
const PAUSE_MS = 40

const [environment = '{}', campaigns = '[]'] = process.argv.slice(2)
const campaignIds = JSON.parse(campaigns) as number[]
const node = await openNode(readConfig(JSON.parse(environment)), {
  log: makeLogger({ level: 'fatal' }),
})
const app = await startApp(node)
const stopping = new AbortController()
process.stdout.write('ready\n')
const reading = Promise.all(Array.from({ length: READERS }, () => read(node)))
await untilStopped()
stopping.abort()
await reading
await app.close()
await node.close()

async function read({ book, fund, appender, ids, edge, now }: Node): Promise<void> {
  while (!stopping.signal.aborted) {
    await sleep(PAUSE_MS)
    const campaignId = campaignIds[Math.floor(Math.random() * campaignIds.length)] ?? 0
    const bid = Number(edge.market.campaigns.get(campaignId)?.bid_micros ?? 1)
    const priceMicros = Math.ceil(bid * (0.5 + Math.random() / 2))
    const atMs = now()
    let leaseId = book.reserve(campaignId, priceMicros, atMs)
    if (leaseId === null) {
      await fund(campaignId, priceMicros)
      leaseId = book.reserve(campaignId, priceMicros, atMs)
    }
    if (leaseId === null) continue
    const event = newEvent({
      ...{ id: ids.next(), atMs, lane: MONEY_LANE, type: EVENT_TYPE.click },
      ...{
        pubId: 1,
        auctionId: '1',
        merchId: 1,
        campaignId,
        model: MODEL.cpc,
        termsAmount: priceMicros,
      },
      ...{ sharePpm: 750_000, leaseId: String(leaseId), reservedMicros: priceMicros },
      ...{ resultNumber: randomBytes(16), clickId: randomBytes(16) },
    })
    await appender.append([event], { timeoutMs: REDIRECT_TIMEOUT_MS })
    process.stdout.write(`${event.id}\n`)
  }
}
