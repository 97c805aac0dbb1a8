/**
 * Serves the fixtures with a real service behind them, for looking at in a browser:
 *
 *   node tag/testing/open-fixtures.ts
 *
 * Ends with Ctrl-C; what was recorded goes with it.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startNetwork } from './network.ts'
import { fillWords } from './visit.ts'

const closers: (() => Promise<void>)[] = []
const network = await startNetwork({ after: (work) => closers.push(work) })
const { web } = network
await fillWords(network)

const CLICK = '?cid=0123456789abcdef0123456789abcdef'
const pages = readdirSync(join(import.meta.dirname, '../fixtures')).map((name) =>
  name.startsWith('merchant-')
    ? `${web.host('kettles')}/${name}${name.includes('landing') ? CLICK : ''}#souk-test`
    : `${web.host('daily')}/${name}#souk-debug`,
)
console.log(`The service: ${network.service}\n\n${pages.join('\n')}\n\nStop with Ctrl-C.`)

process.once('SIGINT', async () => {
  for (const close of closers.reverse()) await close()
  process.exit(0)
})
