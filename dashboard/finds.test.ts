import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rightsOf } from '../src/accounts/permission.ts'
import { ownFinds } from './finds.ts'
import type { Membership } from './membership.ts'

const membership = (kind: 'publisher' | 'merchant', id: number, role: 'owner' | 'viewer') =>
  ({
    organization: { kind, id },
    name: `${kind} ${id}`,
    role,
    permissions: [...rightsOf(role)],
  }) as Membership

const daily = membership('publisher', 7, 'viewer')
const shop = membership('merchant', 3, 'owner')

const labels = (text: string) =>
  ownFinds([daily, shop], daily, text).map(({ value, items }) => [
    value,
    ...items.map(({ label, note }) => (note === undefined ? label : `${label}, ${note}`)),
  ])

test('without a text, the palette lists the permitted pages of the organization', () => {
  const [pages = [], organizations] = labels('')
  assert.ok(pages.includes('Clicks, publisher 7'))
  assert.ok(!pages.some((page) => page.startsWith('Payments')), 'a viewer sees no payments')
  assert.ok(!pages.some((page) => page.endsWith('merchant 3')))
  assert.deepEqual(organizations, ['Switch organization', 'merchant 3, merchant, owner'])
})

test('a text finds pages of every organization by words in any order', () => {
  assert.deepEqual(labels('3 campaign'), [['Pages', 'Campaigns, merchant 3']])
  assert.deepEqual(labels('nothing like this'), [])
})
