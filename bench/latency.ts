/**
 * Measures latency: the hot endpoints under a constant request rate that does not slow down with
 * the service, beside a bare node:http server that returns the same bytes.
 *
 *   node bench/latency.ts [--rate 1000] [--seconds 5]
 */
import { parseArgs } from 'node:util'
import { startBaseline, withHotService } from './hot-service.ts'
import { type LoadOptions, runOpenLoad, showLoad } from './load.ts'

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '5' },
  },
})
const CONNECTIONS = 512
const [rate, seconds] = [Number(values.rate), Number(values.seconds)]

await withHotService(async ({ scenarios, port }) => {
  console.log(`${rate} requests a second for ${seconds} s, whatever has been answered`)
  for (const { name, sample, requests } of scenarios) {
    await using stack = new AsyncDisposableStack()
    const baseline = await startBaseline(stack, sample)
    const load: Omit<LoadOptions, 'port'> = {
      connections: CONNECTIONS,
      seconds,
      status: sample.status,
      // Each connection sends one request before the measurement.
      requests: await requests(CONNECTIONS + Math.ceil(rate * seconds)),
    }
    const bare = await runOpenLoad({ ...load, rate, port: Number(baseline) })
    const ours = await runOpenLoad({ ...load, rate, port: Number(port) })
    console.log(`${name.padEnd(9)} ours ${showLoad(ours)}`)
    console.log(`          bare ${showLoad(bare)}`)
  }
})
