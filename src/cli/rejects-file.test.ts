import assert from 'node:assert/strict'
import { link, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePublisherWorld } from '../../test/support/publisher-world.ts'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { sql } from '../platform/postgres/sql.ts'

const db = await testDatabase()
const { merchant } = await makePublisherWorld(db)
const folder = await temporaryFolder({ after }, 'souk-rejects-')

async function importing(what: 'orders' | 'feed', text: string, rejects: string) {
  const file = join(folder, `${what}.csv`)
  await writeFile(file, text)
  const options = ['--merchant', String(merchant.merch_id), '--file', file, '--rejects', rejects]
  return runCommand([what, 'import', ...options], { db, now: new Date('2026-04-13T12:00:00Z') })
}

test('an unwritable path for rejects is reported before anything is imported', async () => {
  const path = join(folder, 'none', 'rejects')
  const refused = await importing('orders', 'order_id,value,currency\ngood,9.00,USD\n', path)
  const fault = `rejects: there is no such file or folder: "${path}"\n`
  assert.deepEqual(refused, { code: 1, out: '', err: fault })
  assert.deepEqual(await db.rows(sql`select id from event`), [])
})

test('the rejects file never overwrites the imported file, by whatever name', async () => {
  for (const [what, text] of [
    ['orders', 'order_id,value,currency\nsame,9.00,USD\nbad,-,USD\n'],
    ['feed', 'id,title,link,price\nbad,Tea,https://nobody.example/,1 USD\n'],
  ] as const) {
    const file = join(folder, `${what}.csv`)
    await writeFile(file, text)
    const names = [file, `${folder}/./${what}.csv`, `${file}.symbolic`, `${file}.hard`]
    await symlink(file, `${file}.symbolic`)
    await link(file, `${file}.hard`)
    for (const name of names) {
      const refused = await importing(what, text, name)
      const err = 'rejects: is a file that is read here; name another one\n'
      assert.deepEqual(refused, { code: 1, out: '', err }, name)
      assert.equal(await readFile(file, 'utf8'), text)
    }
  }
  assert.deepEqual(await db.rows(sql`select id from event`), [])
})

test('an import replaces the rejects of an earlier one', async () => {
  const rejects = join(folder, 'rejects.jsonl')
  const orders = 'order_id,value,currency\n'
  for (const [rows, lines] of [
    ['bad,-,USD\nworse,x,USD\n', 2],
    ['bad,-,USD\n', 1],
  ] as const) {
    const { code, err } = await importing('orders', orders + rows, rejects)
    assert.deepEqual({ code, err }, { code: 0, err: '' })
    assert.equal((await readFile(rejects, 'utf8')).trim().split('\n').length, lines)
  }
})

test('a disk that is full of rejects gives an error that names the file', {
  skip: process.platform !== 'linux' && 'only Linux has /dev/full',
}, async () => {
  const full = /^rejects: \/dev\/full was not written: ENOSPC: [^\n]*\n$/
  for (const [what, text] of [
    ['orders', 'order_id,value,currency\nbad,-,USD\n'],
    ['feed', 'id,title,link,price\nbad,Tea,https://nobody.example/,1 USD\n'],
  ] as const) {
    const { code, err } = await importing(what, text, '/dev/full')
    assert.equal(code, 1)
    assert.match(err, full)
  }
})
