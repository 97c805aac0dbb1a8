/**
 * Decides which stored lines of a network an import replaces (docs/spec/networks.md#merging).
 *
 * A report shows a part of what happened: the lines of a posting period, or of one day. Lines that
 * it does not show stay, unless the report can only be taken as the whole of its days.
 */
import type { LineNames } from './read-network-row.ts'

/** A line that counts or, with `isDeclined`, takes the stored one away. */
export interface NetworkLine extends LineNames {
  readonly pubId: number
  readonly articleId: number
  readonly account: string
  readonly day: string
  readonly advertiser: string | null
  readonly clicks: number
  readonly sales: number
  /** The file itself counts sales; else they follow from the orders. */
  readonly areSalesReported: boolean
  /** Both amounts in the report's currencies; null: stored before these were kept. */
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
  /** Names on lines that could not be read: their stored lines stay. */
  readonly rejected: readonly Pick<LineNames, 'transactionId' | 'orderId'>[]
  /** Lines have a name in the network (a transaction, or an order and its posting time). */
  readonly isMergeable: boolean
  readonly replacesDays: boolean
}

export interface Merge<Stored extends NetworkLine> {
  readonly kept: readonly Stored[]
  /** Stored lines that a day's file does not have; nothing is imported while there are any. */
  readonly vanished: readonly Stored[]
}

export function mergeLines<Stored extends NetworkLine>(input: MergeInput<Stored>): Merge<Stored> {
  const { stored, lines, rejected, isMergeable, replacesDays } = input
  const index = new LineIndex(lines)
  const days = new Set(lines.map(partitionOf))
  const spared = new Set(rejected.flatMap(namesOf))
  const kept: Stored[] = []
  const vanished: Stored[] = []
  for (const line of stored) {
    const isOfDay = days.has(partitionOf(line))
    if (isMergeable || !isOfDay) {
      if (!index.replaces(line) && !(replacesDays && isOfDay)) kept.push(line)
    } else if (!replacesDays && !index.accountsFor(line)) {
      if (namesOf(line).some((name) => spared.has(name))) kept.push(line)
      else vanished.push(line)
    }
  }
  return { kept, vanished }
}

function namesOf({ transactionId, orderId }: Pick<LineNames, 'transactionId' | 'orderId'>) {
  const names: string[] = []
  if (transactionId !== null) names.push(`transaction ${transactionId}`)
  if (orderId !== null) names.push(`order ${orderId}`)
  return names
}

/** What is stored and replaced as a whole: the lines of one account on one day. */
export function partitionOf({ account, day }: Pick<NetworkLine, 'account' | 'day'>): string {
  return `${account} ${day}`
}

/** The lines of a file by what names them. */
class LineIndex {
  readonly #byTransaction: ReadonlyMap<string, readonly FileLine[]>
  readonly #byOrder: ReadonlyMap<string, readonly FileLine[]>
  readonly #byContent: ReadonlyMap<string, readonly FileLine[]>
  /** Lines that a stored line was matched with: one cannot stand for two. */
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

  /** Whether the file has this very line, in whatever state it is now. */
  replaces(line: NetworkLine): boolean {
    if (line.transactionId !== null) {
      const named = this.#byTransaction.get(line.transactionId) ?? []
      if (named.some((other) => isSameLine(line, other))) return true
    }
    const ofOrder = this.#byOrder.get(orderKey(line) ?? '') ?? []
    if (ofOrder.some((other) => areNamedAlike(line, other) && isSameLine(line, other))) return true
    return isUnnamed(line) && this.#takeContent(line)
  }

  /** The same for a file that is the whole of its days: each of its lines accounts for one. */
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

/** Of two lines of one order, one without a transaction id: an export with fewer columns. */
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
  // A transaction changes its amount until it is locked; two corrections are two entries.
  return !isCorrection(one) || one.amounts === null || one.amounts === other.amounts
}

/** Some exports have the day alone. */
function isSameTime(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

/** A line that takes back what another line earned. */
function isCorrection({ earningsMicros, revenueMicros }: NetworkLine): boolean {
  return earningsMicros < 0 || (earningsMicros === 0 && revenueMicros < 0)
}

function orderKey(line: NetworkLine): string | null {
  if (line.orderId === null) return null
  return JSON.stringify([partitionOf(line), line.orderId, line.advertiser?.toLowerCase() ?? null])
}

/** Names a line by all that it says; a line with totals of a day by whose totals they are. */
function contentKey(line: NetworkLine): string {
  const isTotal = line.areSalesReported || line.clicks !== 0
  const { pubId, articleId, advertiser, item, posted, amounts } = line
  const what = isTotal ? 'total' : amounts
  return JSON.stringify([partitionOf(line), pubId, articleId, advertiser, item, posted, what])
}

/** The same of a line that was stored without the amounts of the report. */
function dollarKey(line: NetworkLine): string {
  const { pubId, articleId, advertiser, revenueMicros, earningsMicros } = line
  const where = [partitionOf(line), pubId, articleId, advertiser]
  return JSON.stringify(['dollars', ...where, revenueMicros, earningsMicros])
}
