import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../../test/support/commands.ts'
import { testDatabase } from '../../test/support/database.ts'
import { makePerson, makePublisherOf } from '../../test/support/management.ts'
import { NETWORK } from '../accounts/permission.ts'
import { readConfig } from '../node/config.ts'
import { sql } from '../platform/postgres/sql.ts'

const db = await testDatabase()
const souk = (...args: string[]) =>
  runCommand(args, { db, config: readConfig({}), now: new Date() })

async function json(...args: string[]) {
  const { code, out, err } = await souk(...args, '--json')
  assert.deepEqual([code, err], [0, ''])
  return JSON.parse(out)
}
const audited = async () =>
  (
    await db.rows<{ line: string }>(sql`
      select concat_ws(' ', action, through, 'pub ' || pub_id, 'uid ' || uid) as line
      from audit_entry order by audit_id`)
  ).map(({ line }) => line)

test('members are added, listed, invited and removed from the command line', async () => {
  const { at, owner } = await makePublisherOf(db)
  const { uid, email } = await makePerson(db)
  const of = ['--publisher', String(at.id)]
  const added = await json('member', 'add', '--user', email, '--role', 'manager', ...of)
  assert.deepEqual([added.uid, added.role], [uid, 'manager'])
  const again = await souk('member', 'add', '--user', email, '--role', 'viewer', ...of)
  assert.match(again.err, /is a member already, with the role manager/)
  assert.deepEqual(
    (await json('member', 'list', ...of)).map((one: { uid: number }) => one.uid),
    [owner.uid, uid],
  )
  const invited = await json('invite', '--email', 'new@x.example', '--role', 'viewer', ...of)
  assert.match(invited.accept_url, /^http:\/\/localhost:8080\/dashboard\/invitations\/[\w-]{43}\/$/)
  assert.equal((await json('member', 'remove', '--user', email, ...of)).uid, uid)
  const last = await souk('member', 'remove', '--user', owner.email, ...of)
  assert.deepEqual([last.code, /The last owner cannot leave/.test(last.err)], [1, true])
  const own = `pub ${at.id}`
  assert.deepEqual(await audited(), [
    `member.add cli ${own}`,
    `invitation.create cli ${own}`,
    `member.remove cli ${own}`,
  ])
})

test('an unknown organization, user or role is refused', async () => {
  const { email } = await makePerson(db, { organization: NETWORK, role: 'admin' })
  for (const [args, reason] of [
    [['--user', email, '--role', 'viewer', '--publisher', '99'], /no publisher 99/],
    [['--user', 'x@y.example', '--role', 'staff', '--network'], /no user has x@y.example/],
    [['--user', email, '--role', 'owner', '--network'], /role: must be "admin" or "staff"/],
  ] as const) {
    const { code, err } = await souk('member', 'add', ...args)
    assert.equal(code, 1)
    assert.match(err, reason)
  }
  const none = await souk('member', 'add', '--user', email, '--role', 'viewer')
  assert.match(none.err, /give either --publisher or --merchant or --network/)
})

test('a key is limited to scopes and an organization from the command line', async () => {
  const { at, owner } = await makePublisherOf(db)
  const whose = ['--user', owner.email, '--description', 'Nightly']
  const of = ['--publisher', String(at.id)]
  const scope = ['--scope', 'figures.read,links.write']
  const { token_id } = await json('key', 'create', ...whose, ...of, ...scope)
  const listed = (await json('key', 'list')).at(-1)
  assert.deepEqual([listed.organization, listed.scopes], [at, ['figures.read', 'links.write']])
  assert.equal((await json('key', 'disable', '--token', String(token_id))).token_id, token_id)
  const other = await makePerson(db)
  const foreign = await souk('key', 'create', '--user', other.email, '--description', 'k', ...of)
  assert.match(foreign.err, /user: .* does not belong to this publisher/)
  const both = await souk('key', 'create', ...whose, ...of, '--merchant', '1')
  assert.match(both.err, /merchant: give a publisher or a merchant, not both/)
  const own = `pub ${at.id}`
  assert.deepEqual((await audited()).slice(-2), [`key.create cli ${own}`, `key.disable cli ${own}`])
})

test('every command on accounts is audited', async () => {
  const before = (await audited()).length
  const email = 'ann@audit.example'
  const user = ['--email', email, '--password', 'a long password']
  const { uid } = await json('user', 'create', ...user)
  await json('user', 'update', '--id', String(uid), '--email', `x${email}`)
  const publisher = ['--name', 'P', '--slug', 'audited', '--user', `x${email}`]
  const { pub_id } = await json('publisher', 'create', ...publisher)
  await json('publisher', 'update', '--id', String(pub_id), '--name', 'Q')
  const key = await json('key', 'create', '--user', `x${email}`, '--description', 'k')
  await json('key', 'disable', '--token', String(key.token_id))
  const lines = (await audited()).slice(before).map((line) => line.split(' ', 2).join(' '))
  assert.deepEqual(lines, [
    'user.create cli',
    'user.update cli',
    'publisher.create cli',
    'publisher.update cli',
    'key.create cli',
    'key.disable cli',
  ])
})
