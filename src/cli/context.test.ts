import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseUrl, testDatabase } from '../../test/support/database.ts'
import { openFoldedLog } from '../../test/support/fold-log.ts'
import { MoneyEvents } from '../../test/support/money-events.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { souk, soukExit } from '../../test/support/souk.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { EVENT_TYPE, MODEL } from '../events/event.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

const AHEAD_MS = 500 * DAY_MS
const AHEAD = `
  globalThis.Date = class extends Date {
    static now = () => super.now() + ${AHEAD_MS}
    constructor(...given) { given.length === 0 ? super(Date.now()) : super(...given) }
  }`

test('a command on a machine with a fast clock issues no unfinished month', async (t) => {
  const db = await testDatabase(t)
  const log = openFoldedLog(t, db)
  const events = new MoneyEvents()
  const { publisher, merchant } = await makePublisherWorld(db)
  const { pub_id: pubId, merch_id: merchId } = { ...publisher, ...merchant }
  const atMs = Date.now() - 100 * DAY_MS
  const price = { model: MODEL.cpc, termsAmount: 60_000_000, reservedMicros: 60_000_000 }
  const body = { reference: 'first', paid_on: utcDay(atMs), amount_micros: 60_000_000 }
  await log.record(
    events.click('a', atMs, { pubId, merchId, campaignId: null, ...price }),
    events.at(atMs, { type: EVENT_TYPE.payment, merchId, body: JSON.stringify(body) }),
  )

  const env = {
    DATABASE_URL: databaseUrl(db.connection),
    SOUK_DATA: await temporaryFolder(t, 'souk-ahead-'),
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(AHEAD)}`,
  }
  const { issued } = await souk<{ issued: { month: string }[] }>(env, 'statement', 'issue')
  assert.ok(issued.length > 0)
  const thisMonth = utcDay(Date.now()).slice(0, 7)
  assert.deepEqual(
    issued.filter(({ month }) => month >= thisMonth),
    [],
  )
})

test('a command says where it creates a new network, and nothing about an existing one', async (t) => {
  const dataDir = await temporaryFolder(t, 'souk-elsewhere-')
  const env = { DATABASE_URL: '', SOUK_DATA: dataDir }
  const made = await soukExit(env, 0, 'publisher', 'list')
  assert.match(made.stderr, /^This is a new network: (\S+) was empty\. SOUK_DATA names the folder/)
  assert.ok(made.stderr.includes(` ${dataDir} `))
  const again = await soukExit(env, 0, 'publisher', 'list')
  assert.equal(again.stderr, '')
})
