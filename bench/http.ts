/**
 * Measures the hot endpoints over HTTP as a ratio to a bare node:http server that returns the same
 * bytes on the same Node. Alternating rounds in one run, medians, 64 connections, 20,000 distinct
 * links, receipts, logging and fsync on, rate limits off.
 *
 *   node bench/http.ts [--seconds 4] [--only redirect]
 *
 * Goals: auction 0.5, redirect with its durable click 0.35, durable POST of one event 0.3.
 */
import { parseArgs } from 'node:util'
import { type CpuTime, cpuTime } from './cpu-time.ts'
import { type HotScenario, LINKS, startBaseline, withHotService } from './hot-service.ts'
import { type LoadRequest, type LoadResult, runLoad, showLoad } from './load.ts'

const CONNECTIONS = 64
const ROUNDS = 5
const GOALS = { auction: 0.5, redirect: 0.35, event: 0.3 }
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, only: { type: 'string', default: '' } },
})
const SECONDS = Number(values.seconds)
/**
 * More requests than a round can use. Requests are never repeated, so no auction comes from memory
 * and every click is recorded.
 */
const REQUESTS = SECONDS * 40_000

await withHotService(async ({ scenarios, port, pid, dataDir }) => {
  const serviceCpu = () => cpuTime({ pid, dataDir })
  console.log(`64 connections, ${LINKS} links, ${ROUNDS} rounds of ${SECONDS} s, medians`)
  for (const scenario of scenarios) {
    if (scenario.name.includes(values.only)) await compare(scenario, { port, serviceCpu })
  }
})

async function compare(
  { name, sample, requests }: HotScenario,
  { port, serviceCpu }: { port: string; serviceCpu: () => CpuTime | null },
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const baseline = await startBaseline(stack, sample)
  const ours: LoadResult[] = []
  const bare: LoadResult[] = []
  const cpu: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const asked = await requests(REQUESTS)
    bare.push(await load(baseline, asked, { status: sample.status, isRepeating: true }))
    const before = serviceCpu()
    const result = await load(port, asked, { status: sample.status })
    cpu.push(cpuPerAnswer(before, serviceCpu(), result))
    ours.push(result)
  }
  const [mine, theirs, goal] = [median(ours), median(bare), GOALS[name]]
  const ratio = mine.rate / theirs.rate
  console.log(
    `${name.padEnd(9)} ratio ${ratio.toFixed(2)} (goal ${goal})${ratio < goal ? '  BELOW GOAL' : ''}\n` +
      `          ours ${showLoad(mine)}\n          bare ${showLoad(theirs)}\n` +
      `          processor time of an answer, each round: ${cpu.join(' · ')}`,
  )
  if (ratio < goal) process.exitCode = 1
}

function cpuPerAnswer(
  before: CpuTime | null,
  after: CpuTime | null,
  { answers }: LoadResult,
): string {
  if (before === null || after === null) return 'unknown'
  const micros = (seconds: number) => `${((seconds / answers) * 1e6).toFixed(0)} µs`
  return `${micros(after.node - before.node)} + ${micros(after.postgres - before.postgres)} PostgreSQL`
}

function load(
  port: string,
  requests: readonly LoadRequest[],
  rest: { status: number; isRepeating?: boolean },
): Promise<LoadResult> {
  return runLoad({
    port: Number(port),
    connections: CONNECTIONS,
    seconds: SECONDS,
    requests,
    ...rest,
  })
}

function median(results: readonly LoadResult[]): LoadResult {
  const sorted = [...results].sort((a, b) => a.rate - b.rate)
  return sorted[sorted.length >> 1] as LoadResult
}
