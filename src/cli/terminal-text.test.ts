import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { readConfig } from '../node/config.ts'
import { terminalText } from './terminal-text.ts'

test('text from third parties cannot control the terminal, and a script gets it unchanged', async () => {
  const db = await testDatabase()
  const souk = (...args: string[]) =>
    runCommand(args, { db, config: readConfig({}), now: new Date() })
  const name = 'Gone\u001b[2J\u202e \u009b1m\rover'
  const { out } = await souk('merchant', 'create', '--name', name, '--domain', 'gone.example')
  assert.match(out, /Gone\\u001b\[2J\\u202e \\u009b1m\\u000dover$/m)
  const listed = await souk('merchant', 'list', '--json')
  assert.equal(JSON.parse(listed.out)[0].name, name)
  assert.match(listed.out, /Gone\\u001b\[2J\\u202e \\u009b1m\\rover/m)
  const { err } = await souk(
    'stats',
    '--publisher',
    'a\u001b[1A',
    '--from=2026-03-02',
    '--to=2026-03-02',
  )
  assert.match(err, /a\\u001b\[1A/)
})

test('lines, tabs, other scripts and joined emoji stay unchanged', () => {
  const text = 'name\tÜber 東京 שלום 👩‍🚀\n'
  assert.equal(terminalText(text), text)
})
