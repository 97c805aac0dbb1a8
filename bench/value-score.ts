/** How far forecasts lie from the truth of a simulated network, see bench/value-worlds.ts. */
import type { Prediction } from '../src/prediction/predict.ts'
import type { Forecast } from './value-learners.ts'

/** Ages of a merchant, in clicks that it had: from each to the next. */
const CLICK_BANDS = [0, 30, 100, 300, 1_000]
/** Slots for which a newcomer's value must stay within NEAR, to be called known. */
const STEADY_SLOTS = 8
const NEAR = 0.2
/** Merchants with fewer clicks are shown apart: of them next to nothing is known. */
const KNOWN_CLICKS = 300

interface Share {
  part: number
  whole: number
}

export interface PairForecast {
  readonly merchId: number
  readonly clicks: number // expected in the slot: its weight
  readonly truth: { readonly value: number; readonly rate: number }
  readonly forecast: Forecast
  readonly age: { readonly clicks: number; readonly days: number; readonly isNewcomer: boolean }
}

const isInside = ({ lowMicros, highMicros }: Prediction, truth: number): boolean =>
  lowMicros <= truth && truth <= highMicros

export class Score {
  static readonly HEADER =
    'learner          regret %   bias % at age in clicks: 0      30     100     300   1,000   day 1' +
    ' | rate in 80 %: young   old  value | known after clicks (never)'

  readonly name: string
  readonly #regret: Share = { part: 0, whole: 0 }
  readonly #bias: Share[] = CLICK_BANDS.map(() => ({ part: 0, whole: 0 }))
  readonly #firstDay: Share = { part: 0, whole: 0 }
  readonly #covered = {
    young: { part: 0, whole: 0 },
    old: { part: 0, whole: 0 },
    value: { part: 0, whole: 0 },
  }
  readonly #slot = new Map<number, { forecast: number; truth: number; clicks: number }>()
  readonly #steady = new Map<number, { since: number; slots: number }>()
  readonly #known: number[] = []

  constructor(name: string) {
    this.name = name
  }

  addPair({ merchId, clicks, truth, forecast, age }: PairForecast): void {
    const { meanMicros } = forecast.value
    const band = CLICK_BANDS.findLastIndex((from) => age.clicks >= from)
    add(this.#bias[band], { part: clicks * meanMicros, whole: clicks * truth.value })
    if (age.isNewcomer && age.days < 1) {
      add(this.#firstDay, { part: clicks * meanMicros, whole: clicks * truth.value })
    }
    const isYoung = age.clicks < KNOWN_CLICKS
    const covered = Number(isInside(forecast.rate, truth.rate)) * clicks
    add(isYoung ? this.#covered.young : this.#covered.old, { part: covered, whole: clicks })
    const valueCovered = Number(isInside(forecast.value, truth.value)) * clicks
    if (!isYoung) add(this.#covered.value, { part: valueCovered, whole: clicks })
    if (!age.isNewcomer) return
    const sum = this.#slot.getOrInsert(merchId, { forecast: 0, truth: 0, clicks: age.clicks })
    sum.forecast += clicks * meanMicros
    sum.truth += clicks * truth.value
  }

  /** The auction's winner is the candidate of the highest forecast; the oracle knows the truth. */
  addAuction(truth: readonly number[], forecasts: readonly number[]): void {
    const best = Math.max(...truth)
    const chosen = truth[forecasts.indexOf(Math.max(...forecasts))] ?? 0
    add(this.#regret, { part: best - chosen, whole: best })
  }

  endSlot(): void {
    for (const [merchId, { forecast, truth, clicks }] of this.#slot) {
      const held = this.#steady.getOrInsert(merchId, { since: clicks, slots: 0 })
      if (held.slots >= STEADY_SLOTS) continue
      const isNear = Math.abs(forecast / truth - 1) <= NEAR
      if (isNear && held.slots === 0) held.since = clicks
      held.slots = isNear ? held.slots + 1 : 0
    }
    this.#slot.clear()
  }

  merge(other: Score): void {
    add(this.#regret, other.#regret)
    add(this.#firstDay, other.#firstDay)
    for (const [band, share] of other.#bias.entries()) add(this.#bias[band], share)
    for (const age of ['young', 'old', 'value'] as const)
      add(this.#covered[age], other.#covered[age])
    this.#known.push(...other.#knownAfter())
  }

  #knownAfter(): number[] {
    return [...this.#steady.values()].map(({ since, slots }) =>
      slots >= STEADY_SLOTS ? since : Number.POSITIVE_INFINITY,
    )
  }

  figures() {
    const known = this.#known.toSorted((one, other) => one - other)
    const ratio = ({ part, whole }: Share) => (whole === 0 ? Number.NaN : part / whole)
    const { young, old, value } = this.#covered
    return {
      regret: ratio(this.#regret),
      bias: this.#bias.map((share) => ratio(share) - 1),
      firstDay: ratio(this.#firstDay) - 1,
      coverage: { young: ratio(young), old: ratio(old), value: ratio(value) },
      newcomers: known.length,
      knownAfter: known[Math.floor(known.length / 2)] ?? Number.NaN,
      never: known.filter((clicks) => !Number.isFinite(clicks)).length / known.length,
    }
  }

  line(): string {
    const { regret, bias, firstDay, coverage, knownAfter, never } = this.figures()
    const percent = (part: number, width: number) =>
      (Number.isNaN(part) ? '-' : (100 * part).toFixed(1)).padStart(width)
    const signed = [...bias, firstDay].map((part) => percent(part, 8)).join('')
    const covered = [coverage.young, coverage.old, coverage.value].map((part) => percent(part, 7))
    return (
      `${this.name.padEnd(14)}${(100 * regret).toFixed(2).padStart(10)}${' '.repeat(22)}${signed}` +
      ` |       ${covered.join('')} | ${knownAfter} (${percent(never, 0)} %)`
    )
  }
}

function add(to: Share | undefined, { part, whole }: Share): void {
  if (to === undefined) return
  to.part += part
  to.whole += whole
}
