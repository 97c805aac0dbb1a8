import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listAccounts } from '../../test/support/budget-accounts.ts'
import { testDatabase } from '../../test/support/database.ts'
import { MoneyEvents, START_MS } from '../../test/support/money-events.ts'
import { type EventType, MODEL, MONEY_LANE, type StoredEvent } from '../events/event.ts'
import type { EventLog } from '../events/event-log.ts'
import { withTimeout } from '../platform/concurrency/timeout.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type FoldEvents, FoldLoop } from './fold-loop.ts'
import { foldMoney } from './fold-money.ts'

const PRICE = 500_000

test('a worker does not fold clicks again that another worker has folded meanwhile (P21)', async (t) => {
  const db = await testDatabase(t)
  await db.run(sql`insert into merchant (name, postback_secret) values ('shop', 'secret')`)
  await db.run(sql`insert into campaign (merch_id, model, bid_micros) values (1, 'cpc', ${PRICE})`)
  const paid = { model: MODEL.cpc, termsAmount: PRICE, reservedMicros: PRICE, merchId: 1 }
  const events = [new MoneyEvents().click('a', START_MS, paid)]
  const errors: Error[] = []
  // Between this worker's read and commit the other one commits the same events.
  const raced: EventLog = {
    read: async ({ position }) => {
      if (position !== '0') return []
      await db.transaction(async (tx) => {
        await tx.run(sql`update lane set position = ${events[0]?.seq} where lane = ${MONEY_LANE}`)
        await foldMoney(tx, events)
      })
      return events
    },
    append: () => Promise.resolve(),
    onAppended: () => undefined,
    isUnreachable: () => false,
    close: () => Promise.resolve(),
  }
  const loop = new FoldLoop({
    database: db,
    log: raced,
    lanes: [MONEY_LANE],
    fold: foldMoney,
    onError: (error) => errors.push(error as Error),
  })
  loop.start()
  while (errors.length === 0) await sleep(5)
  await loop.close()

  assert.match(errors[0]?.message ?? '', /folded by another worker/)
  const accounts = await listAccounts(db, 1)
  assert.deepEqual(
    accounts.map(({ settled_micros }) => settled_micros),
    [String(PRICE), String(PRICE)],
  )
  const row = await db.row<{ entries: number }>(sql`
    select count(*)::int as entries from ledger_transaction`)
  assert.equal(row?.entries, 1)
})

/** A log that contains all these events. */
function logOf(events: readonly StoredEvent[]): EventLog {
  return {
    read: async ({ position, limit }) =>
      events.filter(({ seq }) => BigInt(seq) > BigInt(position)).slice(0, limit),
    append: () => Promise.resolve(),
    onAppended: () => undefined,
    isUnreachable: () => false,
    close: () => Promise.resolve(),
  }
}

/** Clicks, and between them events of a type that the money fold does not know. */
async function makeLane(
  t: TestContext,
  isStrange = (index: number): boolean => index === 7 || index === 8 || index === 19,
  length = 30,
) {
  const db = await testDatabase(t)
  const made = new MoneyEvents()
  const events = Array.from({ length }, (_, index) =>
    isStrange(index)
      ? made.at(START_MS, { type: 99 as EventType })
      : made.click(`click ${index}`, START_MS, {}),
  )
  const errors: Error[] = []
  const run = async (fold: FoldEvents, isDone: () => boolean | Promise<boolean>) => {
    const onError = (error: unknown) => void errors.push(error as Error)
    const loop = new FoldLoop({
      ...{ database: db, log: logOf(events), lanes: [MONEY_LANE], fold, onError },
    })
    loop.start()
    while (!(await isDone())) await sleep(5)
    await loop.close()
  }
  const read = async () =>
    db.row<{ clicks: number; unfolded: string[]; position: string }>(sql`
      select (select count(*)::int from click) as clicks, position,
        array(select event_id from unfolded_event order by seq) as unfolded
      from lane where lane = ${MONEY_LANE}`)
  const strange = events.filter((_, index) => isStrange(index)).map(({ id }) => id)
  const end = events.at(-1)?.seq ?? ''
  return { events, errors, run, read, strange, end }
}

test('sets aside an event that cannot be folded, continues, and retries it under the next owner', async (t) => {
  const { errors, run, read, strange, end } = await makeLane(t)
  await run(foldMoney, async () => (await read())?.position === end)
  assert.deepEqual(await read(), { clicks: 27, unfolded: strange, position: end })
  assert.deepEqual(
    errors.map(({ message }) => message),
    strange.map((id) => `event ${id} cannot be folded: nothing folds events of type 99`),
  )
  // First no event can be folded and all are reported; then a program can fold one of them, then
  // all.
  await run(foldMoney, () => errors.length === 2 * strange.length)
  assert.deepEqual((await read())?.unfolded, strange)
  const [first, ...rest] = strange
  const foldFirst: FoldEvents = async (_tx, events) => {
    if (events.some(({ id }) => id !== first)) throw new Error('not yet')
  }
  await run(foldFirst, () => errors.length === 2 * strange.length + rest.length)
  assert.deepEqual((await read())?.unfolded, rest)
  const folded: string[] = []
  const foldAll: FoldEvents = async (_tx, events) => {
    folded.push(...events.map(({ id }) => id))
  }
  await run(foldAll, async () => (await read())?.unfolded.length === 0)
  assert.deepEqual(folded, rest)
})

test('a lost database sets nothing aside, and the same events are folded after it returns', async (t) => {
  const { errors, run, read, end } = await makeLane(t)
  const lost: FoldEvents = async () => {
    throw new Error('Connection terminated unexpectedly')
  }
  await run(lost, () => errors.length > 0)
  assert.deepEqual(await read(), { clicks: 0, unfolded: [], position: '0' })
  await run(foldMoney, async () => (await read())?.position === end)
  assert.equal((await read())?.clicks, 27)
})

test('a lane stops after a hundred events were set aside', async (t) => {
  const { errors, run, read, events } = await makeLane(t, (index) => index >= 7, 110)
  await run(foldMoney, () => errors.length > 100)
  const { clicks, unfolded, position } = (await read()) ?? assert.fail()
  assert.deepEqual([clicks, unfolded.length, position], [7, 100, events[106]?.seq])
})

test('a slow batch makes the next ones smaller, and fast ones make them grow', async (t) => {
  const { run, read, end } = await makeLane(t, () => false, 1_500)
  // A simulated clock, because a busy machine slows small batches as well.
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const sizes: number[] = []
  const fold: FoldEvents = async (_tx, events) => {
    sizes.push(events.length)
    if (events.length === 400) nowMs += 1_100
  }
  await run(fold, async () => (await read())?.position === end)
  assert.deepEqual(sizes.slice(0, 5), [100, 200, 400, 200, 400])
})

test('a batch that exceeds the statement timeout is folded in parts', async (t) => {
  const { run, read, end, errors } = await makeLane(t, () => false, 120)
  const fold: FoldEvents = async (tx, events) => {
    // As on a slow server: the statement is cancelled every time.
    const seconds = events.length > 50 ? 60 : 0
    await tx.run(sql`set local statement_timeout to 1000`)
    await tx.run(sql`select pg_sleep(${seconds})`)
  }
  await run(fold, async () => errors.length > 4 || (await read())?.position === end)
  assert.equal((await read())?.position, end)
})

/** With hints for lane 1 continuing, does an event in lane 2 without a hint get folded? */
async function foldsWithoutHint(t: TestContext, { isEndless }: { isEndless: boolean }) {
  const db = await testDatabase(t)
  const view = new MoneyEvents().at(START_MS, {})
  let hint: (lane: number) => void = () => undefined
  let isThere = false // The loop's first poll must not be what finds the event.
  const log: EventLog = {
    ...logOf([]),
    read: async ({ lane, position, limit }) => {
      const others = isEndless ? limit : 0
      const length = lane === 1 ? others : Number(isThere && position === '0')
      return Array.from({ length }, (_, index) => {
        return { ...view, lane, seq: String(BigInt(position) + 1n + BigInt(index)) }
      })
    },
    onAppended: (callback) => {
      hint = callback
    },
  }
  const fold: FoldEvents = () => Promise.resolve()
  const folded = new Set<number>()
  const loop = new FoldLoop({
    ...{ database: db, log, lanes: [1, 2], fold, onError: () => undefined },
    onFolded: (lane) => folded.add(lane),
  })
  loop.start()
  await sleep(300)
  isThere = true
  const hints = setInterval(() => {
    hint(1)
    hint(MONEY_LANE) // another loop's
  }, 20)
  const untilMs = Date.now() + 60_000
  while (!folded.has(2) && Date.now() < untilMs) await sleep(20)
  clearInterval(hints)
  await loop.close()
  return folded.has(2)
}

test('an event with a lost hint is folded while other lanes keep receiving hints', async (t) => {
  assert.ok(await foldsWithoutHint(t, { isEndless: false }))
})

test('a lane with a backlog delays no other lane', async (t) => {
  assert.ok(await foldsWithoutHint(t, { isEndless: true }))
})

test('a stalled worker loses its lanes to another one', async (t) => {
  const db = await testDatabase(t)
  const view = { ...new MoneyEvents().at(START_MS, {}), lane: 1, seq: '1' }
  const { promise: standing, resolve: stand } = Promise.withResolvers<void>()
  const { promise: goOn, resolve: wake } = Promise.withResolvers<void>()
  const shared = { database: db, lanes: [1], fold: () => Promise.resolve() }
  const errors: unknown[] = []
  const still = new FoldLoop({
    ...{ ...shared, silenceMsMax: 100, onError: (error) => errors.push(error) },
    log: {
      ...logOf([]),
      read: async () => {
        stand()
        await goOn
        return [view]
      },
    },
  })
  still.start()
  await standing
  const folded = Promise.withResolvers<void>()
  const other = new FoldLoop({
    ...{ ...shared, log: logOf([view]), onError: () => undefined },
    onFolded: () => folded.resolve(),
  })
  other.start()
  await folded.promise
  wake()
  while (errors.length === 0) await sleep(5)
  await Promise.all([still.close(), other.close()])
  const lane = await db.row(sql`select position from lane where lane = 1`)
  assert.deepEqual(lane, { position: view.seq })
})

test('a worker that stalls in the middle of a batch loses its lanes to another one', async (t) => {
  const db = await testDatabase(t)
  const view = { ...new MoneyEvents().at(START_MS, {}), lane: 1, seq: '1' }
  const standing = Promise.withResolvers<void>()
  const goingOn = Promise.withResolvers<void>()
  const folded = Promise.withResolvers<void>()
  const shared = { database: db, lanes: [1], log: logOf([view]), onError: () => undefined }
  const stand = () => {
    standing.resolve()
    return goingOn.promise
  }
  const still = new FoldLoop({ ...shared, silenceMsMax: 100, fold: stand })
  still.start()
  await standing.promise
  const fold = () => Promise.resolve()
  const other = new FoldLoop({ ...shared, fold, onFolded: () => folded.resolve() })
  other.start()
  try {
    await withTimeout(folded.promise, 30_000)
  } finally {
    goingOn.resolve()
    await Promise.all([still.close(), other.close()])
  }
})
