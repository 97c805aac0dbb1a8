/** How each role arrives, over HTTP: invitation, account, sign-in, first action, first refusal. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { NETWORK, type Organization, type Role } from '../src/accounts/permission.ts'
import { startApi } from './support/api.ts'
import { makeMerchantOf, makePerson, makePublisherOf, pathTo } from './support/management.ts'

const api = await startApi({ after }, { env: { ROLES: 'api,edge' } })
const { db } = api
const publisher = (await makePublisherOf(db)).at
const merchant = (await makeMerchantOf(db)).at
const admin = await makePerson(db, { organization: NETWORK, role: 'admin' })
const password = 'an unusual sentence'

interface Step {
  readonly method?: string
  readonly path: string
  readonly body?: object
}

interface Journey {
  readonly at: Organization
  readonly role: Role
  readonly first: Step
  readonly refused: Step
  /** Named by the refusal; null where the caller does not belong at all. */
  readonly permission: string | null
}

const CAMPAIGN = { model: 'cpc', bid: '0.60' }
const [ours, theirs] = [pathTo(publisher), pathTo(merchant)]
const network = pathTo(NETWORK)
const JOURNEYS: readonly Journey[] = [
  {
    ...{ at: publisher, role: 'owner', permission: null },
    first: { path: `${ours}invitations/`, body: { email: 'a@pub.example', role: 'viewer' } },
    refused: { path: `${network}publishers/` },
  },
  {
    ...{ at: publisher, role: 'manager', permission: 'members.write' },
    first: { method: 'PATCH', path: `${ours}settings/`, body: { name: 'The Daily' } },
    refused: { path: `${ours}members/` },
  },
  {
    ...{ at: publisher, role: 'viewer', permission: 'settings.write' },
    first: { path: `${ours}articles/` },
    refused: { method: 'PATCH', path: `${ours}settings/`, body: { name: 'Mine' } },
  },
  {
    ...{ at: merchant, role: 'owner', permission: null },
    first: { path: `${theirs}secrets/postback/`, body: {} },
    refused: { path: `${network}merchants/` },
  },
  {
    ...{ at: merchant, role: 'manager', permission: 'audit.read' },
    first: { path: `${theirs}campaigns/`, body: CAMPAIGN },
    refused: { path: `${theirs}audit_log/` },
  },
  {
    ...{ at: merchant, role: 'viewer', permission: 'campaigns.write' },
    first: { path: `${theirs}campaigns/` },
    refused: { path: `${theirs}campaigns/`, body: CAMPAIGN },
  },
  {
    ...{ at: NETWORK, role: 'admin', permission: null },
    first: { method: 'PATCH', path: `${theirs}settings/`, body: { name: 'The Shop' } },
    refused: { path: `${pathTo({ kind: 'merchant', id: 2_000_000_000 })}settings/` },
  },
  {
    ...{ at: NETWORK, role: 'staff', permission: 'network.write' },
    first: { path: `${network}publishers/` },
    refused: { path: `${network}jobs/none/run/`, body: {} },
  },
]

/** Invites, accepts and signs in; returns the headers of the session. */
async function arrive({ at, role }: Journey): Promise<Record<string, string>> {
  const email = `${role}-of-${at.kind}@people.example`
  const body = { email, role }
  const invited = await api.call(`${pathTo(at)}invitations/`, { key: admin.key, body })
  assert.equal(invited.status, 201, invited.text)
  const token = String(invited.entry().accept_url).split('/').at(-2)
  const account = { name: 'New', password }
  const accepted = await api.call(`/api/v1/invitations/${token}/accept/`, { body: account })
  assert.equal(accepted.status, 200, accepted.text)
  const again = await api.call(`/api/v1/invitations/${token}/accept/`, { body: account })
  assert.deepEqual([again.status, again.failure().code], [409, 4091])
  const signedIn = await api.call('/api/v1/session/', { body: { email, password } })
  assert.ok(signedIn.status < 300, signedIn.text)
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  return { cookie, 'x-souk-csrf': String(signedIn.entry().csrf_token) }
}

for (const journey of JOURNEYS) {
  const { at, role, first, refused, permission } = journey
  test(`a new ${role} of a ${at.kind} does its job, and no other`, async () => {
    const headers = await arrive(journey)
    const done = await api.call(first.path, { ...first, headers })
    assert.ok(done.status < 300, `${first.path} ${done.text}`)
    const answer = await api.call(refused.path, { ...refused, headers })
    const { code, data } = answer.failure()
    if (permission === null) assert.deepEqual([answer.status, code], [403, 4303])
    else assert.deepEqual([answer.status, code, data], [403, 4305, { permission }])
  })
}

test('a session changes nothing without its CSRF token', async () => {
  const [, journey] = JOURNEYS
  assert.ok(journey)
  const signedIn = await api.call('/api/v1/session/', {
    body: { email: 'manager-of-publisher@people.example', password },
  })
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const { first } = journey
  const changed = await api.call(first.path, { ...first, headers: { cookie } })
  assert.equal(changed.status, 403)
})
