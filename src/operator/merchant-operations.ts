/** Merchants as the operator sees them: list, create, change, suspend, replace a leaked secret. */
import Type, { type Static } from 'typebox'
import { requireMatch } from '../accounts/etag.ts'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { MERCHANT_DEFAULTS, type MerchantSettings } from '../catalog/merchant.ts'
import { toMerchantRecord } from '../catalog/merchant-record.ts'
import {
  findMerchants,
  insertMerchant,
  lockMerchant,
  type Merchant,
  requireMerchant,
  updateMerchant,
} from '../catalog/merchant-store.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { orNull, TextOrNull, Time, TimeOrNull } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { firstFigureDay } from './figure-days.ts'
import { MerchantChangesBody, NewMerchantBody, readMerchantBody } from './merchant-body.ts'
import { listMerchantFigures, setMerchantSuspended } from './organization-store.ts'
import { requireUser } from './require-user.ts'
import { requireOtherState, suspendAction } from './suspension.ts'

const PATH = '/api/v1/network/merchants/'
const ONE = `${PATH}:merch_id/`

const NetworkMerchantRecord = Type.Object({
  merch_id: Type.Integer(),
  name: Type.String(),
  domain: Type.Array(Type.String()),
  uid: orNull(Type.Integer(), 'Owning user'),
  click_param: Type.String(),
  deep_link: TextOrNull,
  window_days: Type.Integer({ description: 'How many days after a click orders count' }),
  origin: Type.Array(Type.String()),
  post_impression_rate: orNull(Type.Number(), 'A fraction; null: no such commission'),
  confirm_orders: Type.Boolean(),
  allow_second_rate: Type.Boolean(),
  default_currency: TextOrNull,
  feed_imported_at: TimeOrNull,
  feed_url: orNull(Type.String(), 'Without its password'),
  feed_error: orNull(Type.String(), 'Why the last import failed'),
  is_suspended: Type.Boolean({
    description: 'Whether its campaigns enter no auction and its clicks are not paid',
  }),
  datetime_created: Time,
  datetime_updated: Time,
})
type NetworkMerchantRecord = Static<typeof NetworkMerchantRecord>

export const ListedMerchant = Type.Object({
  ...NetworkMerchantRecord.properties,
  clicks_30d: Type.Integer({ description: 'Paid clicks of the last 30 days' }),
  cost_30d: Type.String({ description: 'Cost of the last 30 days, US dollars' }),
  last_active: TextOrNull,
})

export const SecretRecord = Type.Object({
  ...NetworkMerchantRecord.properties,
  postback_secret: Type.String({ description: 'Shown only in this answer' }),
})

const listMerchants = list({
  id: 'listNetworkMerchants',
  tag: 'network',
  path: PATH,
  summary: 'List merchants with their figures',
  description: '`last_active` is the last UTC day with a figure; null: none yet.',
  permission: 'network.read',
  entry: ListedMerchant,
  run: async ({ db, query, now }) => {
    const range = { after: cursorId(query), limit: query.limit, dayFrom: firstFigureDay(now) }
    const figures = await listMerchantFigures(db, range)
    const found = await findMerchants(
      db,
      figures.map(({ merch_id }) => merch_id),
    )
    const figuresOf = new Map(figures.map((row) => [row.merch_id, row]))
    return pageOf(found, query.limit, {
      idOf: ({ merch_id }) => merch_id,
      toEntry: (merchant) => {
        const row = figuresOf.get(merchant.merch_id)
        return {
          ...toRecord(merchant),
          clicks_30d: Number(row?.clicks ?? 0),
          cost_30d: formatExact(row?.cost_micros ?? 0),
          last_active: row?.last_day ?? null,
        }
      },
    })
  },
})

const readMerchant = action({
  id: 'readNetworkMerchant',
  tag: 'network',
  method: 'GET',
  path: ONE,
  summary: 'A merchant with all its settings',
  permission: 'network.read',
  hasEtag: true,
  params: MerchantParams,
  entry: NetworkMerchantRecord,
  run: async ({ db, params }) => [toRecord(await requireMerchant(db, params.merch_id))],
})

export const createMerchant = action({
  id: 'createMerchant',
  tag: 'network',
  method: 'POST',
  path: PATH,
  summary: 'Create a merchant',
  description: 'Fields that are not sent, or null, take their default.',
  permission: 'network.write',
  status: 201,
  body: NewMerchantBody,
  entry: SecretRecord,
  run: async ({ db, body, audit }) => {
    const settings = { ...MERCHANT_DEFAULTS, ...readMerchantBody(body) } as MerchantSettings
    if (settings.uid !== null) await requireUser(db, settings.uid)
    const merchant = await insertMerchant(db, settings)
    const after = toRecord(merchant)
    await audit({ action: 'merchant.create', target: targetOf(merchant.merch_id), after })
    return [{ ...after, postback_secret: merchant.postback_secret }]
  },
})

export const updateNetworkMerchant = action({
  id: 'updateNetworkMerchant',
  tag: 'network',
  method: 'PATCH',
  path: ONE,
  summary: 'Change any setting of a merchant',
  description: 'Fields that are not sent stay as they are; null sets one to its default.',
  permission: 'network.write',
  hasEtag: true,
  params: MerchantParams,
  body: MerchantChangesBody,
  entry: NetworkMerchantRecord,
  run: async ({ db, params, body, ifMatch, audit }) => {
    const { merch_id: merchId } = params
    const before = await lockedRecord(db, merchId)
    requireMatch(ifMatch, before)
    const { is_suspended: isSuspended, ...settings } = body
    const changes = readMerchantBody(settings)
    if (typeof changes.uid === 'number') await requireUser(db, changes.uid)
    await updateMerchant(db, { merchId, changes })
    if (isSuspended !== undefined && isSuspended !== before.is_suspended) {
      await setMerchantSuspended(db, merchId, isSuspended)
    }
    const after = toRecord(await requireMerchant(db, merchId))
    await audit({ action: 'merchant.update', target: targetOf(merchId), before, after })
    return [after]
  },
})

export const replacePostbackSecret = action({
  id: 'replacePostbackSecret',
  tag: 'network',
  method: 'POST',
  path: `${ONE}secrets/postback/`,
  summary: 'Replace a leaked postback secret at once',
  description: 'The old secret stops working with this call.',
  permission: 'network.write',
  status: 201,
  params: MerchantParams,
  entry: SecretRecord,
  run: async ({ db, params, audit }) => {
    const { merch_id: merchId } = params
    const merchant = await updateMerchant(db, { merchId, changes: {}, isNewSecret: true })
    await audit({ action: 'secret.replace', target: targetOf(merchId) })
    return [{ ...toRecord(merchant), postback_secret: merchant.postback_secret }]
  },
})

const suspendMerchant = action({
  id: 'suspendMerchant',
  tag: 'network',
  method: 'POST',
  path: `${ONE}suspend/`,
  summary: 'Suspend a merchant: its campaigns enter no auction, and no click is paid',
  description: 'Links to its pages still lead there, so no reader is stranded. Its debts stay due.',
  permission: 'network.write',
  hasEtag: true,
  params: MerchantParams,
  entry: NetworkMerchantRecord,
  run: (call) => setSuspended(call, true),
})

const resumeMerchant = action({
  id: 'resumeMerchant',
  tag: 'network',
  method: 'POST',
  path: `${ONE}resume/`,
  summary: 'End the suspension of a merchant',
  permission: 'network.write',
  hasEtag: true,
  params: MerchantParams,
  entry: NetworkMerchantRecord,
  run: (call) => setSuspended(call, false),
})

export const networkMerchantOperations = (): Operation[] => [
  listMerchants,
  readMerchant,
  createMerchant,
  updateNetworkMerchant,
  replacePostbackSecret,
  suspendMerchant,
  resumeMerchant,
]

async function setSuspended(
  { db, params, ifMatch, audit }: Call<Static<typeof MerchantParams>, unknown, unknown>,
  to: boolean,
): Promise<NetworkMerchantRecord[]> {
  const { merch_id: merchId } = params
  const before = await lockedRecord(db, merchId)
  requireMatch(ifMatch, before)
  requireOtherState(before, to)
  await setMerchantSuspended(db, merchId, to)
  const after = toRecord(await requireMerchant(db, merchId))
  await audit({ action: suspendAction('merchant', to), target: targetOf(merchId), before, after })
  return [after]
}

async function lockedRecord(tx: Db, merchId: number): Promise<NetworkMerchantRecord> {
  return toRecord(await lockMerchant(tx, merchId))
}

const targetOf = (merchId: number) => `merchant:${merchId}`

const toRecord = (row: Merchant): NetworkMerchantRecord => ({
  ...toMerchantRecord(row),
  is_suspended: row.is_suspended,
})
