/**
 * Where a publisher's reports are delivered. Through the API only to storage, through the guard of
 * all fetches; a folder is one of the service's machine, so only the operator's shell names one.
 */
import { isAbsolute } from 'node:path'
import Type, { type Static } from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { badRequest, type Fault, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { smallId, TextOrNull, TimeOrNull } from '../platform/http/field-types.ts'
import { parseWebUrl } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { type DeliveredReports, readBucket } from './deliver-reports.ts'
import {
  deleteReportDelivery,
  findReportDelivery,
  listDeliveriesOf,
  type NewReportDelivery,
  type ReportDelivery,
  requestDelivery,
  updateReportDelivery,
  upsertReportDelivery,
} from './delivery-store.ts'

/** Of a publisher: each takes all report files of a week, four times a day. */
const DELIVERIES_MAX = 5
/** Longer than every key of a storage. */
const TEXT_MAX = 1_000

const PATH = '/api/v1/publishers/:pub_id/report_deliveries/'
const SPEC = { tag: 'publishers', permission: 'deliveries.write' } as const
const Params = Type.Object({ ...PublisherParams.properties, delivery_id: smallId })
const ONE = { params: Params, path: `${PATH}:delivery_id/` } as const

const text = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: TEXT_MAX }), Type.Null()], { description })

const Changes = {
  endpoint: Type.Optional(text('URL of S3-compatible storage; null: Amazon S3')),
  region: Type.Optional(text('Null: us-east-1')),
  access_key: Type.Optional(text('Never answered')),
  secret_key: Type.Optional(text('Never answered')),
  is_gzip: Type.Optional(Type.Boolean({ description: 'Whether files are compressed' })),
}
export const NewDelivery = Type.Object({
  target: Type.String({ maxLength: TEXT_MAX, description: '`s3://bucket/prefix`' }),
  ...Changes,
})
export const DeliveryChange = Type.Object(Changes)

export const DeliveryRecord = Type.Object({
  delivery_id: Type.Integer(),
  pub_id: Type.Integer(),
  target: Type.String({ description: '`s3://bucket/prefix`, or a folder of the operator' }),
  endpoint: TextOrNull,
  region: TextOrNull,
  is_gzip: Type.Boolean(),
  set_by: Type.Enum(['publisher', 'operator'], {
    description: '`operator`: by the shell; a publisher cannot change or delete it',
  }),
  is_requested: Type.Boolean({ description: 'It runs within a minute' }),
  datetime_tried: TimeOrNull,
  datetime_delivered: TimeOrNull,
  error: Type.Union(TextOrNull.anyOf, { description: 'Of the last run; null: none' }),
})

const listDeliveries = list({
  ...SPEC,
  id: 'listReportDeliveries',
  path: PATH,
  summary: 'List where reports are delivered, with the result of the last run',
  params: PublisherParams,
  entry: DeliveryRecord,
  run: async ({ db, params: { pub_id: pubId }, query }) => {
    const page = { pubId, after: cursorId(query), limit: query.limit + 1 }
    return pageOf(await listDeliveriesOf(db, page), query.limit, {
      idOf: ({ delivery_id: id }) => id,
      toEntry: toRecord,
    })
  },
})

/** By the shell, a target that exists gets the new credentials. */
export const createReportDelivery = action({
  ...SPEC,
  id: 'createReportDelivery',
  method: 'POST',
  path: PATH,
  summary: 'Deliver reports to a storage every six hours',
  description:
    'A worker writes the last seven days of every report within a minute, and then every six ' +
    `hours. A publisher has at most ${DELIVERIES_MAX} deliveries (409).`,
  status: 201,
  params: PublisherParams,
  body: NewDelivery,
  entry: DeliveryRecord,
  run: async ({ db, params: { pub_id }, body, caller, now, audit }) => {
    const isShell = caller.through.kind === 'cli'
    const { endpoint = null, region = null, access_key = null, secret_key = null } = body
    const target = readBucket(body.target) === null ? body.target : body.target.replace(/\/$/, '')
    const shown = { target, endpoint, region, is_gzip: body.is_gzip === true }
    const wanted = { pub_id, ...shown, access_key, secret_key, is_guarded: !isShell }
    const faults = [
      ...targetFaults(target, { mayBeFolder: isShell }),
      ...(isAbsolute(target) ? [] : storageFaults(wanted)),
    ]
    if (faults.length > 0) throw badRequest(faults)
    if (!isShell) {
      const known = await listDeliveriesOf(db, { pubId: pub_id, after: null, limit: null })
      if (known.some((one) => one.target === target)) {
        throw wrongState({ field: 'target', rule: 'is a delivery already: change that one' })
      }
      if (known.length >= DELIVERIES_MAX) {
        throw wrongState({ field: 'target', rule: `at most ${DELIVERIES_MAX} deliveries` })
      }
    }
    const delivery_id = await upsertReportDelivery(db, wanted)
    if (!isShell) await requestDelivery(db, { deliveryId: delivery_id, at: now })
    await audit({ ...change('create', delivery_id), after: shown })
    return [toRecord(await requireDelivery(db, { pub_id, delivery_id }))]
  },
})

const changeDelivery = action({
  ...SPEC,
  ...ONE,
  id: 'changeReportDelivery',
  method: 'PATCH',
  summary: 'Change the storage of a delivery, but not its target',
  description: 'Another `endpoint` needs both keys again.',
  body: DeliveryChange,
  entry: DeliveryRecord,
  run: async ({ db, params, body, now, audit }) => {
    const before = await requireOwnDelivery(db, params)
    const isElsewhere = body.endpoint !== undefined && body.endpoint !== before.endpoint
    const keys = isElsewhere ? { access_key: null, secret_key: null } : {}
    const wanted = { ...before, ...keys, ...body }
    const faults = storageFaults(wanted)
    if (faults.length > 0) throw badRequest(faults)
    await updateReportDelivery(db, wanted)
    await requestDelivery(db, { deliveryId: params.delivery_id, at: now })
    const hasNewKeys = body.secret_key !== undefined || body.access_key !== undefined
    await audit({
      ...change('update', params.delivery_id),
      before: withoutKeys(before),
      after: { ...withoutKeys(wanted), has_new_keys: hasNewKeys },
    })
    return [toRecord(await requireDelivery(db, params))]
  },
})

const runDelivery = action({
  ...SPEC,
  ...ONE,
  id: 'runReportDelivery',
  method: 'POST',
  path: `${ONE.path}run/`,
  summary: 'Deliver the last seven days within a minute',
  status: 202,
  entry: DeliveryRecord,
  run: async ({ db, params, now, audit }) => {
    await requireDelivery(db, params)
    await requestDelivery(db, { deliveryId: params.delivery_id, at: now })
    await audit(change('run', params.delivery_id))
    return [toRecord(await requireDelivery(db, params))]
  },
})

export const deleteReportDeliveryOf = action({
  ...SPEC,
  ...ONE,
  id: 'deleteReportDelivery',
  method: 'DELETE',
  summary: 'End a delivery; delivered files stay',
  entry: Type.Object({}),
  run: async ({ db, params, caller, audit }) => {
    const isShell = caller.through.kind === 'cli'
    const found = await (isShell ? requireDelivery : requireOwnDelivery)(db, params)
    await deleteReportDelivery(db, params.delivery_id)
    await audit({ ...change('delete', params.delivery_id), before: withoutKeys(found) })
    return []
  },
})

export const deliveryOperations: readonly Operation[] = [
  listDeliveries,
  createReportDelivery,
  changeDelivery,
  runDelivery,
  deleteReportDeliveryOf,
]

interface Named {
  readonly pub_id: number
  readonly delivery_id: number
}

async function requireDelivery(db: Db, { pub_id, delivery_id }: Named): Promise<ReportDelivery> {
  const found = await findReportDelivery(db, delivery_id)
  if (found?.pub_id !== pub_id) throw notFound(`No delivery ${delivery_id}`)
  return found
}

/** One that was set through the API. */
async function requireOwnDelivery(db: Db, named: Named): Promise<ReportDelivery> {
  const found = await requireDelivery(db, named)
  if (found.is_guarded) return found
  throw wrongState({ field: 'delivery_id', rule: 'was set up by the operator, who can change it' })
}

function targetFaults(target: string, { mayBeFolder }: { mayBeFolder: boolean }): Fault[] {
  if (isAbsolute(target) && mayBeFolder) return []
  if (readBucket(target) === null) {
    const rule = mayBeFolder
      ? 'must be a folder, or s3://bucket/prefix'
      : 'must be s3://bucket/prefix'
    return [{ field: 'target', rule }]
  }
  // In a file's URL they would lead into another bucket.
  if (target.split('/').some((part) => part === '.' || part === '..')) {
    return [{ field: 'target', rule: 'must be a prefix without the parts . and ..' }]
  }
  return []
}

type Storage = Pick<NewReportDelivery, 'endpoint' | 'region' | 'access_key' | 'secret_key'>

function storageFaults({ endpoint, region, access_key, secret_key }: Storage): Fault[] {
  const keys = Object.entries({ access_key, secret_key })
  return [
    ...keys.flatMap(([field, value]) =>
      value === null ? [{ field, rule: 'must be given: storage needs both keys' }] : [],
    ),
    ...(endpoint !== null && parseWebUrl(endpoint) === null
      ? [{ field: 'endpoint', rule: 'must be an absolute http(s) URL' }]
      : []),
    // It becomes a part of the host.
    ...(region !== null && !/^[a-z0-9-]{1,40}$/.test(region)
      ? [{ field: 'region', rule: 'must be a region such as eu-west-1' }]
      : []),
  ]
}

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

function withoutKeys({ target, endpoint, region, is_gzip }: NewReportDelivery) {
  return { target, endpoint, region, is_gzip }
}

function toRecord(delivery: ReportDelivery): Static<typeof DeliveryRecord> {
  const { delivery_id, pub_id, error } = delivery
  return {
    ...{ delivery_id, pub_id, error, ...withoutKeys(delivery) },
    set_by: delivery.is_guarded ? 'publisher' : 'operator',
    is_requested: delivery.requested_at !== null,
    datetime_tried: formatTimestampOrNull(delivery.tried_at),
    datetime_delivered: formatTimestampOrNull(delivery.delivered_at),
  }
}
