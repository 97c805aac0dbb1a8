/** Reports of shops that the service refused, as the pages of merchants and operators show them. */

import type { IntakeDeps } from '../../orders/intake.ts'
import { checked, orderFaults } from '../../orders/intake-faults.ts'
import { OrdersBody } from '../../orders/schema.ts'
import { type IntakeQuotas, storeRefusal } from '../../orders/store-refusal.ts'
import { ApiError, type Fault } from '../../platform/errors/api-errors.ts'
import { compileCheck } from '../../platform/http/validation.ts'
import { HOUR_MS } from '../../platform/time/timestamp.ts'
import type { DemoState } from '../load.ts'

interface Mistake {
  readonly slug: string
  readonly hoursAgo: number
  readonly order: Readonly<Record<string, unknown>>
}

const MISTAKES: readonly Mistake[] = [
  {
    slug: 'kettlework',
    hoursAgo: 51,
    order: { id: 'KET-20931', value: '89,95', currency: 'USD' },
  },
  {
    slug: 'kettlework',
    hoursAgo: 50,
    order: { id: 'KET-20931', value: '89.95', currency: 'US Dollar' },
  },
  { slug: 'basecamp-direct', hoursAgo: 19, order: { id: ' ', value: '318.00', currency: 'USD' } },
]

const ORDERS = {
  schema: compileCheck(OrdersBody),
  listName: 'orders',
  entryFaults: orderFaults,
} as const

export async function reportRefusals(
  { db, now }: IntakeDeps,
  { state, quotas }: { readonly state: DemoState; readonly quotas: IntakeQuotas },
): Promise<void> {
  for (const { slug, hoursAgo, order } of MISTAKES) {
    const at = new Date(now() - hoursAgo * HOUR_MS)
    const body = { orders: [{ order }] }
    const cause = refusalOf(body, at.getTime())
    const refusal = {
      ...{ at, merchId: state.merchants[slug] ?? 0, endpoint: 'orders', reason: cause.message },
      ...{ faults: (cause.data ?? []) as Fault[], origin: '127.0.0.1', isProven: true },
    }
    const sent = Buffer.from(JSON.stringify(body))
    const toText = (bytes: Buffer) => bytes.toString()
    await storeRefusal({ db, quotas }, refusal, { address: '127.0.0.1', body: sent, toText })
  }
}

function refusalOf(body: unknown, nowMs: number): ApiError {
  try {
    checked(body, { ...ORDERS, nowMs })
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the service accepts a report that the demo wants refused')
}
