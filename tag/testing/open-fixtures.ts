/**
 * Serves the fixtures with a real service behind them, for looking at in a browser:
 *
 *   node tag/testing/open-fixtures.ts
 *
 * Ends with Ctrl-C; what was recorded goes with it.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBase62 } from '../../src/platform/ids.ts'
import { startNetwork } from './network.ts'

const closers: (() => Promise<void>)[] = []
const network = await startNetwork({ after: (work) => closers.push(work) })
const { web } = network
const article = `${web.host('daily')}/smart-links.html`
const goods = [1, 2, 3].map((at) => `${web.host('kettles')}/p/${at}`)
for (const [at, id] of (await network.smartLinks(article, goods)).entries()) {
  web.words.set(`smart ${at + 1}`, id)
  web.words.set(`short ${at + 1}`, encodeBase62(id))
}
web.words.set('merchant', String(network.merchId))

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
