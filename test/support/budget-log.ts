/**
 * The event log of a simulated fleet and its fold: an array in one order, repeated entries, a
 * judge, and transactions that fail and are repeated.
 * Part of src/budgets/budget-simulation.test.ts.
 */
import assert from 'node:assert/strict'
import { bookSpend, closeLeases, leaseCloseBody } from '../../src/budgets/book-spend.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { countPaid, countReserved, type World } from './budget-world.ts'
import type { Random } from './seeded-random.ts'

export interface ClickEntry {
  readonly kind: 'click'
  readonly eventId: number
  readonly resultNumber: number
  readonly world: World
  readonly nodeId: number
  readonly incarnation: string
  readonly leaseId: number
  readonly micros: number
  readonly day: string
}

export interface CloseEntry {
  readonly kind: 'close'
  readonly eventId: number
  readonly nodeId: number
  readonly incarnation: string
}

export type Entry = ClickEntry | CloseEntry

interface Verdict {
  readonly entry: Entry
  readonly isLate: boolean
  readonly paid: number
}

class SimulatedCrash extends Error {}

export class BudgetLog {
  readonly #db: Db
  readonly #random: Random
  readonly #entries: Entry[] = []
  readonly #seen = new Set<number>()
  readonly #closed = new Set<string>()
  #folded = 0
  paidClicks = 0
  lateClicks = 0

  constructor(db: Db, random: Random) {
    this.#db = db
    this.#random = random
  }

  append(entry: Entry): void {
    this.#entries.push(entry)
    if (this.#random() < 0.05) this.#entries.push(entry) // A retry; both writes succeeded.
  }

  get isFolded(): boolean {
    return this.#folded === this.#entries.length
  }

  /** Folds some entries in one transaction, which sometimes fails and is repeated. */
  async fold(limit: number): Promise<void> {
    const batch = this.#entries.slice(this.#folded, this.#folded + limit)
    const verdicts = this.#judge(this.#withoutRepeats(batch))
    if (this.#random() < 0.15) {
      const failing = this.#db.transaction(async (tx) => {
        await book(tx, verdicts)
        throw new SimulatedCrash()
      })
      await assert.rejects(failing, SimulatedCrash)
    }
    await this.#db.transaction((tx) => book(tx, verdicts))
    this.#folded += batch.length
    for (const verdict of verdicts) this.#remember(verdict)
  }

  #withoutRepeats(batch: readonly Entry[]): Entry[] {
    const inBatch = new Set<number>()
    return batch.filter(({ eventId }) => {
      const isRepeat = this.#seen.has(eventId) || inBatch.has(eventId)
      inBatch.add(eventId)
      return !isRepeat
    })
  }

  /** Reads the remembered state without changing it, so that a fold may fail and be repeated. */
  #judge(entries: readonly Entry[]): Verdict[] {
    const closed = new Set(this.#closed)
    const results = new Map<World, Set<number>>()
    return entries.map((entry) => {
      if (entry.kind === 'close') {
        closed.add(nodeKey(entry))
        return { entry, isLate: false, paid: 0 }
      }
      const { world, resultNumber, micros } = entry
      const judged = results.get(world) ?? new Set()
      results.set(world, judged)
      const isFirst = !world.judgedResults.has(resultNumber) && !judged.has(resultNumber)
      judged.add(resultNumber)
      const isLate = closed.has(nodeKey(entry))
      return { entry, isLate, paid: isFirst && !isLate ? micros : 0 }
    })
  }

  #remember({ entry, isLate, paid }: Verdict): void {
    this.#seen.add(entry.eventId)
    if (entry.kind === 'close') {
      this.#closed.add(nodeKey(entry))
      return
    }
    const { world, day, resultNumber, micros } = entry
    world.judgedResults.add(resultNumber)
    if (isLate) this.lateClicks += 1
    else if (paid === 0) countReserved(world, day, -micros)
    else {
      this.paidClicks += 1
      countPaid(world, day, paid)
    }
  }
}

const nodeKey = (of: { nodeId: number; incarnation: string }) => `${of.nodeId} ${of.incarnation}`

async function book(tx: Db, verdicts: readonly Verdict[]): Promise<void> {
  for (const run of runsOf(verdicts)) {
    const closes = run.flatMap(({ entry }) => (entry.kind === 'close' ? [entry] : []))
    if (closes.length > 0) {
      await closeLeases(
        tx,
        closes.map((close) => ({ body: leaseCloseBody(close) })),
      )
    }
    await bookSpend(tx, run.flatMap(bookedClicks))
  }
}

/** Runs of clicks and of closings, in the order of the log, as the money fold takes them. */
function runsOf(verdicts: readonly Verdict[]): Verdict[][] {
  const runs: Verdict[][] = []
  for (const verdict of verdicts) {
    const run = runs.at(-1)
    if (run?.[0]?.entry.kind === verdict.entry.kind) run.push(verdict)
    else runs.push([verdict])
  }
  return runs
}

function bookedClicks({ entry, paid }: Verdict) {
  if (entry.kind === 'close') return []
  const { world, day, leaseId, micros } = entry
  const { campaignId } = world
  return [
    { campaignId, day, leaseId: String(leaseId), reservedMicros: micros, merchantCostMicros: paid },
  ]
}
