/**
 * Decides which stored lines of a network an import replaces (docs/spec/networks.md#merging).
 *
 * A report covers a posting period, or one day. Stored lines that it does not contain stay, unless
 * the report must be taken as all of its days.
 */
import type { LineNames } from './read-network-row.ts'

/** A line that counts or, with `isDeclined`, removes the stored one. */
export interface NetworkLine extends LineNames {
  readonly pubId: number
  readonly articleId: number
  readonly account: string
  readonly day: string
  readonly advertiser: string | null
  readonly clicks: number
  readonly sales: number
  /** The file itself counts sales; otherwise they follow from the orders. */
  readonly areSalesReported: boolean
  /** Both amounts in the report's currencies; null if stored before these were recorded. */
  readonly amounts: string | null
  readonly revenueMicros: number
  readonly earningsMicros: number
}

export interface FileLine extends NetworkLine {
  readonly isDeclined: boolean
}

export interface MergeInput<Stored extends NetworkLine> {
  /** All lines of the partitions that the file touches. */
  readonly stored: readonly Stored[]
  readonly lines: readonly FileLine[]
  /** Names on unreadable lines: their stored lines stay. */
  readonly rejected: readonly Pick<LineNames, 'transactionId' | 'orderId'>[]
  /** Lines have a name in the network: a transaction, or an order with its posting time. */
  readonly isMergeable: boolean
  readonly replacesDays: boolean
}

export interface Merge<Stored extends NetworkLine> {
  readonly kept: readonly Stored[]
  /** Stored lines that a day's file lacks. Nothing is imported while there are any. */
  readonly missing: readonly Stored[]
}

export function mergeLines<Stored extends NetworkLine>(input: MergeInput<Stored>): Merge<Stored> {
  const { stored, lines, rejected, isMergeable, replacesDays } = input
  const index = new LineIndex(lines)
  const days = new Set(lines.map(partitionOf))
  const spared = new Set(rejected.flatMap(namesOf))
  const kept: Stored[] = []
  const missing: Stored[] = []
  for (const line of stored) {
    const isOfDay = days.has(partitionOf(line))
    if (isMergeable || !isOfDay) {
      if (!index.replaces(line) && !(replacesDays && isOfDay)) kept.push(line)
    } else if (!replacesDays && !index.accountsFor(line)) {
      if (namesOf(line).some((name) => spared.has(name))) kept.push(line)
      else missing.push(line)
    }
  }
  return { kept, missing }
}

function namesOf({ transactionId, orderId }: Pick<LineNames, 'transactionId' | 'orderId'>) {
  const names: string[] = []
  if (transactionId !== null) names.push(`transaction ${transactionId}`)
  if (orderId !== null) names.push(`order ${orderId}`)
  return names
}

/** The unit that is stored and replaced: the lines of one account on one day. */
export function partitionOf({ account, day }: Pick<NetworkLine, 'account' | 'day'>): string {
  return `${account} ${day}`
}

/** The lines of a file by their key. */
class LineIndex {
  readonly #byTransaction: ReadonlyMap<string, readonly FileLine[]>
  readonly #byOrder: ReadonlyMap<string, readonly FileLine[]>
  readonly #byContent: ReadonlyMap<string, readonly FileLine[]>
  /** Stored lines already matched, because one cannot match twice. */
  readonly #used = new Set<FileLine>()

  constructor(lines: readonly FileLine[]) {
    const grouped = (keysOf: (line: FileLine) => readonly (string | null)[]) => {
      const groups = new Map<string, FileLine[]>()
      for (const line of lines) {
        for (const key of new Set(keysOf(line))) {
          if (key === null) continue
          const group = groups.get(key)
          if (group === undefined) groups.set(key, [line])
          else group.push(line)
        }
      }
      return groups
    }
    this.#byTransaction = grouped(({ transactionId }) => [transactionId])
    this.#byOrder = grouped((line) => [orderKey(line)])
    this.#byContent = grouped((line) => [contentKey(line), dollarKey(line)])
  }

  /** Whether the file contains this very line, in whatever status. */
  replaces(line: NetworkLine): boolean {
    if (line.transactionId !== null) {
      const named = this.#byTransaction.get(line.transactionId) ?? []
      if (named.some((other) => isSameLine(line, other))) return true
    }
    const ofOrder = this.#byOrder.get(orderKey(line) ?? '') ?? []
    if (ofOrder.some((other) => areNamedAlike(line, other) && isSameLine(line, other))) return true
    return isUnnamed(line) && this.#takeContent(line)
  }

  /** The same for a file that covers whole days: each of its lines matches one stored line. */
  accountsFor(line: NetworkLine): boolean {
    const ofOrder = this.#byOrder.get(orderKey(line) ?? '') ?? []
    const match = ofOrder.find((other) => !this.#used.has(other) && isSameLine(line, other))
    if (match === undefined) return isUnnamed(line) && this.#takeContent(line)
    this.#used.add(match)
    return true
  }

  #takeContent(line: NetworkLine): boolean {
    const key = line.amounts === null ? dollarKey(line) : contentKey(line)
    const match = this.#byContent.get(key)?.find((other) => !this.#used.has(other))
    if (match === undefined) return false
    this.#used.add(match)
    return true
  }
}

/**
 * Two lines of one order, one of them without a transaction id, from an export with fewer columns.
 */
function areNamedAlike(line: NetworkLine, other: NetworkLine): boolean {
  return line.transactionId === null || other.transactionId === null
}

function isUnnamed({ transactionId, orderId }: LineNames): boolean {
  return transactionId === null && orderId === null
}

/** Two lines of one transaction, or of one order: the same item, and the same entry. */
function isSameLine(one: NetworkLine, other: NetworkLine): boolean {
  const areOfOneKind = isCorrection(one) === isCorrection(other)
  const areOfOneItem = one.item === null || other.item === null || one.item === other.item
  if (!areOfOneKind || !areOfOneItem) return false
  if (one.posted !== null && other.posted !== null) return isSameTime(one.posted, other.posted)
  // A transaction changes its amount until it is locked. Two corrections are two entries.
  return !isCorrection(one) || one.amounts === null || one.amounts === other.amounts
}

/** Some exports contain only the day. */
function isSameTime(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

/** A line that reverses the earnings of another line. */
function isCorrection({ earningsMicros, revenueMicros }: NetworkLine): boolean {
  return earningsMicros < 0 || (earningsMicros === 0 && revenueMicros < 0)
}

function orderKey(line: NetworkLine): string | null {
  if (line.orderId === null) return null
  return JSON.stringify([partitionOf(line), line.orderId, line.advertiser?.toLowerCase() ?? null])
}

/** Identifies a line by its whole content; a line with a day's totals by their owner. */
function contentKey(line: NetworkLine): string {
  const isTotal = line.areSalesReported || line.clicks !== 0
  const { pubId, articleId, advertiser, item, posted, amounts } = line
  const what = isTotal ? 'total' : amounts
  return JSON.stringify([partitionOf(line), pubId, articleId, advertiser, item, posted, what])
}

/** The same for a line stored without the report's amounts. */
function dollarKey(line: NetworkLine): string {
  const { pubId, articleId, advertiser, revenueMicros, earningsMicros } = line
  const where = [partitionOf(line), pubId, articleId, advertiser]
  return JSON.stringify(['dollars', ...where, revenueMicros, earningsMicros])
}
