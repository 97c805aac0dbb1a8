/**
 * Where a publisher's reports are delivered. Only commands call these: a folder is one of the
 * service's machine, and a storage's address is not guarded as other fetches are.
 */
import { isAbsolute } from 'node:path'
import Type, { type Static } from 'typebox'
import { action } from '../accounts/operation.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import { smallId, TextOrNull } from '../platform/http/field-types.ts'
import { parseWebUrl } from '../platform/net/url.ts'
import { type DeliveredReports, readBucket } from './deliver-reports.ts'
import {
  deleteReportDelivery,
  findReportDelivery,
  type ReportDelivery,
  upsertReportDelivery,
} from './delivery-store.ts'

const PATH = '/api/v1/publishers/:pub_id/report_deliveries/'

const SPEC = { tag: 'publishers', permission: 'deliveries.write' } as const

const NewDelivery = Type.Object({
  target: Type.String({ description: 'A folder, or `s3://bucket/prefix`' }),
  endpoint: Type.Optional(TextOrNull),
  region: Type.Optional(TextOrNull),
  access_key: Type.Optional(TextOrNull),
  secret_key: Type.Optional(TextOrNull),
  is_gzip: Type.Optional(Type.Boolean()),
})

/** A target that exists gets the new credentials. */
export const createReportDelivery = action({
  ...SPEC,
  id: 'createReportDelivery',
  method: 'POST',
  path: PATH,
  summary: 'Deliver reports to a folder or a storage',
  params: PublisherParams,
  body: NewDelivery,
  entry: Type.Object({
    delivery_id: Type.Integer(),
    pub_id: Type.Integer(),
    target: Type.String(),
  }),
  run: async ({ db, params: { pub_id }, body, audit }) => {
    const faults = deliveryFaults(body)
    if (faults.length > 0) throw badRequest(faults)
    const { endpoint = null, region = null, access_key = null, secret_key = null } = body
    const target = readBucket(body.target) === null ? body.target : body.target.replace(/\/$/, '')
    const shown = { target, endpoint, region, is_gzip: body.is_gzip === true }
    const wanted = { pub_id, ...shown, access_key, secret_key }
    const delivery_id = await upsertReportDelivery(db, wanted)
    await audit({ ...change('create', delivery_id), after: shown })
    return [{ delivery_id, pub_id, target }]
  },
})

function deliveryFaults(body: Static<typeof NewDelivery>): Fault[] {
  const { target, endpoint = null, access_key = null, secret_key = null } = body
  if (isAbsolute(target)) return []
  if (readBucket(target) === null) {
    return [{ field: 'target', rule: 'must be a folder, or s3://bucket/prefix' }]
  }
  const faults: Fault[] = []
  // In a file's URL they would lead into another bucket.
  if (target.split('/').some((part) => part === '.' || part === '..')) {
    faults.push({ field: 'target', rule: 'must be a prefix without the parts . and ..' })
  }
  if (access_key === null || secret_key === null) {
    faults.push({ field: 'access_key', rule: 'storage needs --access-key and --secret-key' })
  }
  if (endpoint !== null && parseWebUrl(endpoint) === null) {
    faults.push({ field: 'endpoint', rule: 'must be an http(s) address' })
  }
  return faults
}

export const deleteReportDeliveryOf = action({
  ...SPEC,
  id: 'deleteReportDelivery',
  method: 'DELETE',
  path: `${PATH}:delivery_id/`,
  summary: 'End a delivery; delivered files stay',
  params: Type.Object({ ...PublisherParams.properties, delivery_id: smallId }),
  entry: Type.Object({}),
  run: async ({ db, params: { pub_id, delivery_id }, audit }) => {
    const found = await findReportDelivery(db, delivery_id)
    if (found?.pub_id !== pub_id) throw notFound(`No delivery ${delivery_id}`)
    await deleteReportDelivery(db, delivery_id)
    await audit({ ...change('delete', delivery_id), before: withoutKeys(found) })
    return []
  },
})

/** Runs the schedule's work now, for all publishers. */
export const runReportDeliveriesBy = (
  deliver: (now: Date) => Promise<readonly DeliveredReports[]>,
) =>
  action({
    id: 'runReportDeliveries',
    tag: 'network',
    method: 'POST',
    path: '/api/v1/network/report_deliveries/run/',
    summary: 'Deliver reports to all targets now',
    permission: 'network.write',
    isLong: true,
    entry: Type.Object({
      delivery_id: Type.Integer(),
      target: Type.String(),
      files: Type.Integer(),
      error: TextOrNull,
    }),
    run: async ({ now, audit }) => {
      await audit({ action: 'report_delivery.run', target: 'report_deliveries' })
      return deliver(now)
    },
  })

function change(verb: string, deliveryId: number) {
  return { action: `report_delivery.${verb}`, target: `report_delivery:${deliveryId}` }
}

function withoutKeys({ target, endpoint, region, is_gzip }: ReportDelivery) {
  return { target, endpoint, region, is_gzip }
}
