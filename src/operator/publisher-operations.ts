/** Publishers as the operator sees them: list, create, change, suspend. */
import Type, { type Static } from 'typebox'
import { requireMatch } from '../accounts/etag.ts'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, type Call, list, type Operation } from '../accounts/operation.ts'
import { PUBLISHER_DEFAULTS, type PublisherSettings } from '../accounts/publisher.ts'
import {
  findPublisher,
  findPublishers,
  insertPublisher,
  lockPublisher,
  type Publisher,
  updatePublisher,
} from '../accounts/publisher-store.ts'
import { PublisherParams, PublisherRecord, toPublisherRecord } from '../accounts/schema.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { TextOrNull } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { firstFigureDay } from './figure-days.ts'
import { listPublisherFigures, setPublisherSuspended } from './organization-store.ts'
import { NewPublisherBody, PublisherChangesBody, readPublisherBody } from './publisher-body.ts'
import { requireUser } from './require-user.ts'
import { requireOtherState, suspendAction } from './suspension.ts'

const PATH = '/api/v1/network/publishers/'
const ONE = `${PATH}:pub_id/`

export const NetworkPublisherRecord = Type.Object({
  ...PublisherRecord.properties,
  is_suspended: Type.Boolean({
    description: 'Whether its links get no auction and earn nothing; readers reach their URLs',
  }),
})
type NetworkPublisherRecord = Static<typeof NetworkPublisherRecord>

export const ListedPublisher = Type.Object({
  ...NetworkPublisherRecord.properties,
  clicks_30d: Type.Integer({ description: 'Paid clicks of the last 30 days' }),
  earnings_30d: Type.String({ description: 'Earned in the last 30 days, US dollars' }),
  last_active: TextOrNull,
})

const listPublishers = list({
  id: 'listNetworkPublishers',
  tag: 'network',
  path: PATH,
  summary: 'List publishers with their figures',
  description: '`last_active` is the last UTC day with a figure; null: none yet.',
  permission: 'network.read',
  entry: ListedPublisher,
  run: async ({ db, query, now }) => {
    const range = { after: cursorId(query), limit: query.limit, dayFrom: firstFigureDay(now) }
    const figures = await listPublisherFigures(db, range)
    const found = await findPublishers(
      db,
      figures.map(({ pub_id }) => pub_id),
    )
    const figuresOf = new Map(figures.map((row) => [row.pub_id, row]))
    return pageOf(found, query.limit, {
      idOf: ({ pub_id }) => pub_id,
      toEntry: (publisher) => {
        const row = figuresOf.get(publisher.pub_id)
        return {
          ...toRecord(publisher),
          clicks_30d: Number(row?.clicks ?? 0),
          earnings_30d: formatExact(row?.earnings_micros ?? 0),
          last_active: row?.last_day ?? null,
        }
      },
    })
  },
})

const readPublisher = action({
  id: 'readNetworkPublisher',
  tag: 'network',
  method: 'GET',
  path: ONE,
  summary: 'A publisher with all its settings',
  permission: 'network.read',
  hasEtag: true,
  params: PublisherParams,
  entry: NetworkPublisherRecord,
  run: async ({ db, params }) => [toRecord(await requirePublisher(db, params.pub_id))],
})

export const createPublisher = action({
  id: 'createPublisher',
  tag: 'network',
  method: 'POST',
  path: PATH,
  summary: 'Create a publisher',
  description: 'Fields that are not sent, or null, take their default. The user becomes its owner.',
  permission: 'network.write',
  status: 201,
  hasEtag: true,
  body: NewPublisherBody,
  entry: NetworkPublisherRecord,
  run: async ({ db, body, audit }) => {
    const settings = { ...PUBLISHER_DEFAULTS, ...readPublisherBody(body) } as PublisherSettings
    await requireUser(db, settings.uid)
    const after = toRecord(await insertPublisher(db, settings))
    await audit({ action: 'publisher.create', target: targetOf(after.pub_id), after })
    return [after]
  },
})

export const updateNetworkPublisher = action({
  id: 'updateNetworkPublisher',
  tag: 'network',
  method: 'PATCH',
  path: ONE,
  summary: 'Change any setting of a publisher',
  description: 'Fields that are not sent stay as they are; null sets one to its default.',
  permission: 'network.write',
  hasEtag: true,
  params: PublisherParams,
  body: PublisherChangesBody,
  entry: NetworkPublisherRecord,
  run: async ({ db, params, body, ifMatch, audit }) => {
    const { pub_id: pubId } = params
    const before = await lockedRecord(db, pubId)
    requireMatch(ifMatch, before)
    const { is_suspended: isSuspended, ...settings } = body
    const changes = readPublisherBody(settings)
    if (changes.uid !== undefined) await requireUser(db, changes.uid)
    await updatePublisher(db, { pubId, changes })
    if (isSuspended !== undefined && isSuspended !== before.is_suspended) {
      await setPublisherSuspended(db, pubId, isSuspended)
    }
    const after = toRecord(await requirePublisher(db, pubId))
    await audit({ action: 'publisher.update', target: targetOf(pubId), before, after })
    return [after]
  },
})

const suspendPublisher = action({
  id: 'suspendPublisher',
  tag: 'network',
  method: 'POST',
  path: `${ONE}suspend/`,
  summary: 'Suspend a publisher: no auctions and no paid clicks',
  description:
    'Its links then lead to their own URL, so no reader is stranded. Earnings so far stay.',
  permission: 'network.write',
  hasEtag: true,
  params: PublisherParams,
  entry: NetworkPublisherRecord,
  run: (call) => setSuspended(call, true),
})

const resumePublisher = action({
  id: 'resumePublisher',
  tag: 'network',
  method: 'POST',
  path: `${ONE}resume/`,
  summary: 'End the suspension of a publisher',
  permission: 'network.write',
  hasEtag: true,
  params: PublisherParams,
  entry: NetworkPublisherRecord,
  run: (call) => setSuspended(call, false),
})

export const publisherOperations = (): Operation[] => [
  listPublishers,
  readPublisher,
  createPublisher,
  updateNetworkPublisher,
  suspendPublisher,
  resumePublisher,
]

async function setSuspended(
  { db, params, ifMatch, audit }: Call<Static<typeof PublisherParams>, unknown, unknown>,
  to: boolean,
): Promise<NetworkPublisherRecord[]> {
  const { pub_id: pubId } = params
  const before = await lockedRecord(db, pubId)
  requireMatch(ifMatch, before)
  requireOtherState(before, to)
  await setPublisherSuspended(db, pubId, to)
  const after = toRecord(await requirePublisher(db, pubId))
  await audit({ action: suspendAction('publisher', to), target: targetOf(pubId), before, after })
  return [after]
}

async function lockedRecord(tx: Db, pubId: number): Promise<NetworkPublisherRecord> {
  return toRecord(await lockPublisher(tx, pubId))
}

async function requirePublisher(db: Db, pubId: number): Promise<Publisher> {
  const publisher = await findPublisher(db, pubId)
  if (publisher === null) throw notFound(`No publisher ${pubId}`)
  return publisher
}

const targetOf = (pubId: number) => `publisher:${pubId}`

const toRecord = (row: Publisher): NetworkPublisherRecord => ({
  ...toPublisherRecord(row),
  is_suspended: row.is_suspended,
})
