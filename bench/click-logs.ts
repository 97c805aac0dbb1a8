/**
 * Runs the prediction on real impressions and clicks: the Open Bandit data of the test data.
 *
 * Items stand for merchants, positions on the page for publishers, impressions for clicks, and
 * clicks for orders. The trade differs, but the question is the same: how often does b follow a for
 * pairs with little history? It moves forward in time hour by hour and refits daily. A file has
 * only about 50 clicks, so the output includes the number of clicks behind each figure.
 *
 * Needs ../shared/data/click-logs.
 */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { type Cohort, evaluate, METHODS } from '../src/evaluation/evaluate.ts'
import { HOUR_MS } from '../src/platform/time/timestamp.ts'
import { UNFITTED_MODEL } from '../src/prediction/prediction-model.ts'

const KIT = fileURLToPath(new URL('../../shared/data/click-logs/', import.meta.url))
const FILES = ['random-men', 'random-women', 'bts-men', 'bts-women']
/** The first day is for training only. */
const TEACHING_HOURS = 24

interface Impression {
  readonly timestamp: string
  readonly item_id: string
  readonly position: string
  readonly click: string
}

function readCohorts(file: string): Cohort[] {
  const text = gunzipSync(readFileSync(`${KIT}obd-${file}.csv.gz`)).toString()
  const rows = parse(text, { columns: true }) as Impression[]
  const groups = Map.groupBy(rows, (row) => {
    const slot = Math.floor(Date.parse(row.timestamp) / HOUR_MS)
    return `${slot} ${row.item_id} ${row.position}`
  })
  return [...groups].map(([key, group]) => {
    const [slot = 0, merchId = 0, pubId = 0] = key.split(' ').map(Number)
    const count = group.filter(({ click }) => click === '1').length
    const orders = count === 0 ? [] : [{ slot, count }]
    return { slot, merchId, pubId, clicks: group.length, orders }
  })
}

function report(name: string, cohorts: readonly Cohort[]): void {
  const slots = cohorts.map(({ slot }) => slot)
  const first = slots.reduce((least, slot) => Math.min(least, slot), Number.POSITIVE_INFINITY)
  const last = slots.reduce((most, slot) => Math.max(most, slot), 0)
  const { clicks, orders, pairSlots, methods } = evaluate(cohorts, {
    slotMs: HOUR_MS,
    fromSlot: first + TEACHING_HOURS,
    toSlot: last + 1,
    // A click on an item immediately follows its impression.
    model: { ...UNFITTED_MODEL, delayCurve: [1, 0, 0, 0, 0, 0] },
    refitSlots: 24,
    knownUntilMs: Number.POSITIVE_INFINITY,
  })
  console.log(`\n${name}: ${clicks} impressions, ${orders} clicks, ${pairSlots} pair-hours`)
  if (methods === null) throw new Error(`${name} holds nothing to measure`)
  console.log('method    log loss  norm. entropy  calibration  rel. error  wAPE  coverage')
  for (const method of METHODS) {
    const of = methods[method]
    const cells = [
      of.logLoss.toFixed(5),
      (of.normalisedEntropy?.toFixed(4) ?? '').padStart(11),
      of.calibration.toFixed(3).padStart(12),
      of.calibrationError.toFixed(5).padStart(10),
      of.weightedError.toFixed(3).padStart(8),
      of.coverage === null ? '' : `${(of.coverage * 100).toFixed(1)} %`.padStart(9),
    ]
    console.log(`${method.padEnd(8)}  ${cells.join(' ')}`)
  }
}

if (!existsSync(KIT)) {
  console.log('needs ../shared/data/click-logs')
  process.exitCode = process.env.CI ? 1 : 0
} else {
  const all = FILES.map((file) => ({ file, cohorts: readCohorts(file) }))
  for (const { file, cohorts } of all) report(`obd-${file}`, cohorts)
}
