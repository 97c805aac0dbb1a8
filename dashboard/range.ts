/** The range of days of a page, its comparison and its time zone; all of it is in the URL. */
import { useAddress } from './address.ts'
import type { Range } from './api.ts'
import {
  type Compare,
  compared,
  DEFAULT_PRESET,
  type Preset,
  presetOf,
  rangeOf,
} from './range-days.ts'

export interface ChosenRange extends Range {
  readonly preset: Preset | null
  /** As the API takes it; null compares with nothing. */
  readonly compare: Compare | null
  /** The days that the comparison covers. */
  readonly before: Range | null
  readonly isUtc: boolean
}

/** The range in the URL, by default the last 30 days. */
export function useRange(): [Range, (range: Range) => void] {
  const [{ from, to }, change] = useAddress()
  const range = from && to ? { from, to } : rangeOf(DEFAULT_PRESET, Date.now())
  return [range, change]
}

/** The same with the comparison and the time zone, for pages whose calls take them. */
export function useChosenRange(): ChosenRange {
  const [range] = useRange()
  const [{ compare, zone }] = useAddress()
  const chosen = compare === 'none' ? null : (compare ?? 'previous')
  return {
    ...range,
    preset: presetOf(range, Date.now()),
    compare: chosen,
    before: chosen && compared(range, chosen),
    isUtc: zone === 'utc',
  }
}
