/** Attack: one caller asks 20 times at once what a long day would have earned. */
import { createApiKey } from '../src/accounts/create-account.ts'
import { sql } from '../src/platform/postgres/sql.ts'
import { addressOf, attack, BROWSER, isQuiet, P95_MAX_MS, type Target } from './abuse-service.ts'
import { type LoadResult, runOpenLoad } from './load.ts'

const AUCTIONS = 100_000
const CALLS = 20
const DAY = '2026-03-01'
const RATE = 100
const SECONDS = 10

export const askLongDays = (): Promise<boolean> =>
  attack(`${CALLS} what-if calls at once, over a day of ${AUCTIONS} auctions`, async (target) => {
    const key = await prepare(target)
    const isJudged = isQuiet(await readersOf(target))
    const answers = Promise.all(Array.from({ length: CALLS }, () => ask(target, key)))
    const readers = await readersOf(target)
    const statuses = Object.entries(Object.groupBy(await answers, String))
    const counts = statuses.map(([status, all]) => `${all?.length} × ${status}`).join(', ')
    console.log(`  answered ${counts}; readers: p50 ${readers.p50} ms, p95 ${readers.p95} ms`)
    const isHeld = !isJudged || readers.p95 < P95_MAX_MS
    return isHeld && statuses.every(([status]) => Number(status) < 500)
  })

function readersOf({ port, links }: Target): Promise<LoadResult> {
  return runOpenLoad({
    ...{ port, connections: 32, seconds: SECONDS, status: 302, rate: RATE },
    requests: Array.from({ length: 32 + RATE * SECONDS }, (_, at) => ({
      method: 'GET' as const,
      path: `/${links[at % links.length]}`,
      headers: { 'user-agent': BROWSER, 'x-forwarded-for': addressOf(at) },
    })),
  })
}

/** A day of one auction, repeated, and a key of its publisher. */
async function prepare({ db, base, links, pubId }: Target): Promise<string> {
  const headers = { 'user-agent': BROWSER }
  await (await fetch(`${base}/api/v1/auction/?a=${links[0]}`, { headers })).arrayBuffer()
  let made = 0
  while (made === 0) {
    made = await db.run(sql`
      insert into receipt
      select decode(md5(number::text), 'hex'), ${DAY}::timestamptz, pub_id, auction_id, merch_id,
        packed
      from generate_series(1, ${AUCTIONS}) as number,
        (select * from receipt where pub_id = ${pubId} limit 1) as one`)
  }
  const owner = await db.row<{ uid: number }>(
    sql`select uid from publisher where pub_id = ${pubId}`,
  )
  const wanted = { uid: owner?.uid ?? 0, description: 'bench', expiresAt: null, now: new Date() }
  return (await createApiKey(db, wanted)).key
}

async function ask({ base, pubId }: Target, key: string): Promise<number> {
  const response = await fetch(`${base}/api/v1/what_if/`, {
    method: 'POST',
    headers: { authorization: `SERVICE-API-KEY ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ pub_id: pubId, date: DAY }),
  })
  await response.arrayBuffer()
  return response.status
}
