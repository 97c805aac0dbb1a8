import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, type Caller, ownIds, permissionsIn, SHELL } from './caller.ts'
import {
  MEMBER_ROLES,
  NETWORK,
  NETWORK_ROLES,
  type Organization,
  PERMISSIONS,
  type Role,
  rightsOf,
} from './permission.ts'

const PUBLISHER: Organization = { kind: 'publisher', id: 1 }
const MERCHANT: Organization = { kind: 'merchant', id: 1 }

const withRole = (organization: Organization, role: Role): Caller => ({
  uid: 7,
  through: { kind: 'session', sessionId: 1, csrfToken: '' },
  memberships: [{ organization, role }],
  scopes: null,
  boundTo: null,
})

test('the table of rights is that of the documentation', () => {
  const count = (role: Role) => rightsOf(role).size
  assert.deepEqual([...MEMBER_ROLES, ...NETWORK_ROLES].map(count), [14, 12, 1, 16, 4])
  assert.deepEqual([...rightsOf('viewer')], ['figures.read'])
  assert.equal(rightsOf('manager').has('members.write'), false)
  assert.deepEqual(
    [...rightsOf('staff')],
    ['figures.read', 'orders.review', 'payments.read', 'network.read'],
  )
})

test('a role counts in its organization only, one of the network everywhere', () => {
  const owner = withRole(PUBLISHER, 'owner')
  assert.doesNotThrow(() => authorize(owner, PUBLISHER, 'members.write'))
  for (const foreign of [MERCHANT, NETWORK, { kind: 'publisher', id: 2 } as const]) {
    assert.throws(() => authorize(owner, foreign, 'figures.read'), { code: 4303 })
  }
  const staff = withRole(NETWORK, 'staff')
  for (const any of [MERCHANT, NETWORK, PUBLISHER]) {
    assert.doesNotThrow(() => authorize(staff, any, 'figures.read'))
    assert.throws(() => authorize(staff, any, 'links.write'), {
      code: 4305,
      data: { permission: 'links.write' },
    })
  }
  assert.deepEqual(ownIds(owner, 'publisher'), [1])
  assert.deepEqual(ownIds(staff, 'publisher'), [], 'its own are those it belongs to')
})

test('a key has at most the rights of its user, and those of its scopes and organization', () => {
  const viewer: Caller = {
    ...withRole(PUBLISHER, 'viewer'),
    scopes: ['figures.read', 'links.write'],
  }
  assert.deepEqual([...(permissionsIn(viewer, PUBLISHER) ?? [])], ['figures.read'])
  const owner: Caller = { ...withRole(PUBLISHER, 'owner'), scopes: ['links.write'] }
  assert.throws(() => authorize(owner, PUBLISHER, 'figures.read'), {
    code: 4305,
    message: 'The key lacks the scope figures.read',
  })
  const bound: Caller = { ...withRole(PUBLISHER, 'owner'), boundTo: MERCHANT }
  assert.throws(() => authorize(bound, PUBLISHER, 'figures.read'), { code: 4303 })
  assert.deepEqual(ownIds(bound, 'publisher'), [])
})

test('the operator’s shell may do everything', () => {
  for (const permission of PERMISSIONS) authorize(SHELL, PUBLISHER, permission)
})
