/**
 * Prints an evaluation: predictions beside their baselines, then predicted against actual rates.
 */
import type { evaluateCommand } from './evaluate.ts'
import { formatResult } from './print.ts'

type Evaluated = Awaited<ReturnType<typeof evaluateCommand>>

/** The first few of sixteen digits show the difference between methods. */
const DIGITS = 4

export function formatEvaluation(result: Evaluated, columns?: number): string {
  const { ours, baselines, bins, ...facts } = result
  const methods: Record<string, object> = { ...(ours === null ? {} : { ours }), ...baselines }
  const measures = Object.keys(ours ?? {}).map((measure) => ({
    measure,
    ...mapValues(methods, (of) => fixed((of as Record<string, number | null>)[measure])),
  }))
  const rates = bins.map(({ clicks, predicted, actual }) => ({
    clicks: clicks.toFixed(1),
    predicted: percent(predicted),
    actual: percent(actual),
  }))
  return formatResult({ ...facts, measures, bins: rates }, columns)
}

const fixed = (value: number | null | undefined): string | null => value?.toFixed(DIGITS) ?? null
const percent = (rate: number): string => `${(rate * 100).toFixed(2)} %`

function mapValues<From, To>(of: Record<string, From>, change: (value: From) => To) {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]))
}
