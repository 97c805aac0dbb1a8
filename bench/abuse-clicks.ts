/** Attack: clicks that nobody made, or that one reader repeats; each prints how many are paid. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../src/platform/postgres/sql.ts'
import { attack, BROWSER, type Target } from './abuse-service.ts'

interface Clicks {
  readonly name: string
  readonly calls: number
  readonly paidMax: number // docs/spec/clicks.md
  readonly header: Readonly<Record<string, string>>
  /** Which link the nth call follows. */
  readonly linkOf: (at: number) => number
}

const one = () => 0
const each = (at: number) => at
const page = { 'sec-fetch-dest': 'document' }

const ATTACKS: readonly Clicks[] = [
  {
    ...{ name: 'hidden frames opened in one gesture', calls: 20, paidMax: 0, linkOf: each },
    header: { 'sec-fetch-dest': 'iframe', 'sec-fetch-user': '?1' },
  },
  { name: 'repeats without a cookie', calls: 12, paidMax: 1, header: page, linkOf: one },
  { name: 'a scanner of one newsletter', calls: 12, paidMax: 3, header: page, linkOf: each },
  {
    ...{ name: 'prefetches', calls: 12, paidMax: 0, linkOf: each },
    header: { ...page, 'x-purpose': 'preview' },
  },
]
const ONE_ADDRESS = 700
/** Five campaigns at ten paid clicks an hour, and three of a scanner in each ten seconds. */
const ONE_ADDRESS_PAID_MAX = 50

export const clickFalsely = (): Promise<boolean> =>
  attack('clicks that nobody made', async (target) => {
    let isHeld = true
    for (const [turn, { name, calls, paidMax, header, linkOf }] of ATTACKS.entries()) {
      const headers = { ...header, 'user-agent': BROWSER }
      const before = await paidOf(target)
      await click(target, calls, (at) => [`203.0.113.${turn + 1}`, linkOf(at), headers])
      isHeld = (await report(target, name, { calls, before, paidMax })) && isHeld
    }
    const before = await paidOf(target)
    await click(target, ONE_ADDRESS, (at) => {
      return ['203.0.113.66', at, { ...page, 'user-agent': `${BROWSER} Reader/${at}` }]
    })
    const bound = { calls: ONE_ADDRESS, before, paidMax: ONE_ADDRESS_PAID_MAX }
    return (await report(target, 'one address as many browsers', bound)) && isHeld
  })

async function report(
  target: Target,
  name: string,
  { calls, before, paidMax }: { calls: number; before: number; paidMax: number },
): Promise<boolean> {
  const paid = (await paidOf(target)) - before
  console.log(`  ${name}: ${paid} of ${calls} paid (at most ${paidMax})`)
  return paid <= paidMax
}

async function click(
  { base, links }: Target,
  calls: number,
  make: (at: number) => readonly [address: string, link: number, headers: object],
): Promise<void> {
  const follow = async (at: number) => {
    const [address, link, headers] = make(at)
    const response = await fetch(`${base}/${links[link % links.length]}`, {
      redirect: 'manual',
      headers: { ...headers, 'x-forwarded-for': address },
    })
    if (response.status !== 302) throw new Error(`a reader got ${response.status}`)
  }
  for (let at = 0; at < calls; at += AT_ONCE) {
    const batch = Array.from({ length: Math.min(AT_ONCE, calls - at) }, (_, index) => at + index)
    await Promise.all(batch.map(follow))
  }
}

/** All of a frame attack, and of a scanner's. */
const AT_ONCE = 20

async function paidOf({ db }: Target): Promise<number> {
  await sleep(3_000) // Folded by then.
  const row = await db.row<{ paid: number }>(sql`
    select count(*)::int as paid from click where reason = 0 and merchant_cost_micros > 0`)
  return row?.paid ?? 0
}
