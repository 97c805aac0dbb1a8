/** Runs the examples of the guides, as a reader who copied them, against a real service. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { setMembership } from '../../src/accounts/membership-store.ts'
import { updateProductWords } from '../../src/matching/product-words-store.ts'
import { DAY_MS, utcDay } from '../../src/platform/time/timestamp.ts'
import { startApi } from '../../test/support/api.ts'
import { makeMarket } from '../../test/support/market.ts'
import { operationsOf, schemaOf } from './api-description.ts'
import { OWN_VALUES } from './code-block.ts'
import type { Language } from './example-call.ts'
import { exampleTabs } from './guide-block.ts'
import { GUIDE_EXAMPLES } from './guide-examples.ts'
import { exampleOf } from './schema-fields.ts'
import { readApi } from './site.ts'
import { SOURCE_PAGES } from './site-sources.ts'

const api = await startApi({ after })
const operations = operationsOf(readApi())
const values = new Map<string, string>()
const run = promisify(execFile)

before(async () => {
  const { account, kettles, campaign } = await makeMarket(api)
  await campaign(kettles)
  await updateProductWords(api.db)
  const organization = { kind: 'merchant', id: kettles } as const
  await setMembership(api.db, { uid: account.uid, organization, role: 'owner' })
  const today = api.app.node.now()
  for (const [word, value] of [
    ['YOUR-SLUG', account.publishers[0]?.slug],
    ['YOUR-PUBLISHER-ID', account.pubId],
    ['YOUR-MERCHANT-ID', kettles],
    ['YOUR-API-KEY', account.key],
    ['FIRST-DAY', utcDay(today - DAY_MS)],
    ['LAST-DAY', utcDay(today)],
  ] as const) {
    values.set(word, String(value))
  }
})

/** Each program is given the example as a reader would paste it into a file. */
const RUNNERS: Readonly<Record<Language, readonly string[]>> = {
  curl: ['sh', '-c'],
  TypeScript: [process.execPath, '--input-type=module-typescript', '--eval'],
  Python: ['python3', '-c'],
}

const isThere = (program: string) => spawnSync(program, ['--version']).status === 0
const MISSING: Readonly<Record<Language, string | false>> = {
  curl:
    !(isThere('curl') && spawnSync('openssl', ['version']).status === 0) && 'no curl or openssl',
  TypeScript: false,
  Python: !isThere('python3') && 'no python3',
}

/** Runs an example; returns its answer: JSON, or the text of a CSV file. */
async function answerOf(name: string, language: Language): Promise<unknown> {
  const { code = '' } = exampleTabs(operations, name).find((tab) => tab.name === language) ?? {}
  const own = Object.keys(OWN_VALUES).reduce(
    (text, word) => text.replaceAll(word, values.get(word) ?? word),
    code.replaceAll('{base_url}', api.url),
  )
  const [program = '', ...options] = RUNNERS[language]
  const { stdout } = await run(program, [...options, own])
  return stdout.startsWith('{') ? JSON.parse(stdout) : stdout
}

interface Answer {
  readonly data: readonly Record<string, unknown>[]
  readonly stats: readonly unknown[]
  readonly warnings: readonly { message: string }[]
}

for (const language of ['curl', 'TypeScript', 'Python'] as const) {
  test(`the examples of the guides work in ${language}`, { skip: MISSING[language] }, async () => {
    const ask = async (name: string) => (await answerOf(name, language)) as Answer
    const first = async (name: string) => (await ask(name)).data[0] ?? {}
    const [link, secret] = await Promise.all([first('create-link'), first('create-secret')])
    assert.match(String(link.smart_link_url), /^https:\/\/go\.souk\.example/)
    values.set('YOUR-POSTBACK-SECRET', String(secret.postback_secret))
    const order = first('send-order')
    const [tag, links, product, match, { stats }, csv, changes] = await Promise.all([
      first('read-tag-status'),
      first('list-links'),
      first('search-products'),
      first('match-product'),
      ask('read-statistics'),
      answerOf('export-clicks', language),
      ask('read-changes'),
    ])
    assert.deepEqual(tag.hosts, [])
    assert.equal(links.url, 'https://shop.example/p/1')
    assert.equal(product.name, 'The Kettle')
    assert.match(String(match.clickmate_link), /^https:/)
    assert.ok(Array.isArray(stats))
    assert.match(String(csv), /^click_id,click_timestamp,/)
    assert.ok('changes' in changes)
    assert.equal((await order).order_id, 'A-1001')
    await api.app.untilFolded()
    assert.equal((await first('list-orders')).checkout_id, 'A-1001')
    assert.equal((await first('send-return')).id, 'R-1')
  })
}

/** The name and type of every field that has a value: `.data.price string`. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => fieldsOf(entry, path))
  if (value === null) return []
  if (typeof value !== 'object') return [`${path} ${typeof value}`]
  return Object.entries(value).flatMap(([name, part]) => fieldsOf(part, `${path}.${name}`))
}

test('each guide runs the examples that it names, and shows answers with their real fields', () => {
  const guides = SOURCE_PAGES.filter(({ group }) => group === 'Guides').map(({ file }) =>
    readFileSync(join(import.meta.dirname, '../..', file), 'utf8'),
  )
  const blocks = (text: string, language: string) =>
    [...text.matchAll(new RegExp(`\`\`\`${language}\\n([^\`]*)\`\`\``, 'g'))].map(
      ([, code = '']) => code,
    )
  const named = guides.flatMap((text) => blocks(text, 'example').map((name) => name.trim()))
  assert.deepEqual(named.toSorted(), Object.keys(GUIDE_EXAMPLES).toSorted())
  for (const text of guides) {
    const answers = blocks(text, 'example').flatMap((name) => {
      const id = GUIDE_EXAMPLES[name.trim()]?.operationId
      const { responses } = operations.find(({ operationId }) => operationId === id) ?? {}
      return Object.values(responses ?? {}).flatMap(({ content }) =>
        fieldsOf(exampleOf(schemaOf(content) ?? {})),
      )
    })
    for (const shown of blocks(text, 'json').flatMap((code) => fieldsOf(JSON.parse(code)))) {
      const isReal = answers.some((field) => field === shown || field.endsWith(shown))
      assert.ok(isReal, `${shown} is not in ${answers.join()}`)
    }
  }
})
