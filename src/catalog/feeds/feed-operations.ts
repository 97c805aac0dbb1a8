/** A merchant's feed: where it comes from, its imports, and the rows that they rejected. */
import Type, { type Static } from 'typebox'
import { requireMatch } from '../../accounts/etag.ts'
import {
  action,
  type Call,
  list,
  type Operation,
  type UploadedFile,
} from '../../accounts/operation.ts'
import {
  ApiError,
  badRequest,
  type Fault,
  notFound,
  tooLarge,
} from '../../platform/errors/api-errors.ts'
import { pageOf, readCursor } from '../../platform/http/list-cursor.ts'
import { isId } from '../../platform/ids.ts'
import { withoutPassword } from '../../platform/net/fetch-guard.ts'
import type { Database } from '../../platform/postgres/postgres.ts'
import { requireMerchant } from '../merchant-store.ts'
import { MerchantParams } from '../own-merchant.ts'
import { FEED_FORMATS } from './feed-format.ts'
import { type FeedOptions, readFeedMap, requireCurrency, requireElement } from './feed-options.ts'
import {
  type FeedRun,
  findRun,
  insertRun,
  listRejects,
  listRuns,
  type RunState,
} from './feed-run-store.ts'
import {
  ImportRecord,
  NO_OPTIONS,
  RejectRecord,
  SCHEDULES,
  SourceBody,
  SourceRecord,
  sourceUrl,
  toImportRecord,
  toRejectRecord,
  toSourceRecord,
} from './feed-schema.ts'
import {
  dropFeedSource,
  findFeedSource,
  lockFeedSource,
  setFeedSource,
} from './feed-source-store.ts'
import { charsetIn, receiveFeed } from './fetch-feed.ts'
import { RecordedRun } from './record-import.ts'
import { REJECT_REASONS } from './reject-words.ts'
import type { FeedImportOrder } from './run-feed-import.ts'

export interface FeedDeps {
  readonly db: Database
  /** Runs an import that was accepted; nobody waits for it. */
  readonly startImport: (order: FeedImportOrder) => void
}

/** A file of 1 GiB: ten million rows, packed. */
const UPLOAD_BYTES_MAX = 2 ** 30
/** The request line of an import has room for it. */
const MAP_LENGTH_MAX = 4_000

const FEED = '/api/v1/merchants/:merch_id/feed/'
const IMPORTS = `${FEED}imports/`
const ImportParams = Type.Object({ ...MerchantParams.properties, import_id: Type.String() })
const SHARED = { tag: 'merchants', params: MerchantParams } as const

const readSource = action({
  ...SHARED,
  id: 'readFeedSource',
  method: 'GET',
  path: FEED,
  summary: 'Where the feed of a merchant comes from',
  description: '`data` is empty without a source.',
  permission: 'figures.read',
  hasEtag: true,
  versionOf: settingsOf,
  entry: SourceRecord,
  run: async (call) => {
    const { merch_id: merchId } = call.params
    return (await findFeedSource(call.db, merchId)) === null ? [] : [await sourceRecord(call)]
  },
})

const replaceSource = action({
  ...SHARED,
  id: 'setFeedSource',
  method: 'PUT',
  path: FEED,
  summary: 'Set where the feed of a merchant comes from',
  description: 'Replaces the whole record: a field that is not sent takes its default.',
  permission: 'feeds.write',
  hasEtag: true,
  versionOf: settingsOf,
  body: SourceBody,
  entry: SourceRecord,
  run: async (call) => {
    const { db, body } = call
    const { merch_id: merchId } = call.params
    await lockFeedSource(db, merchId)
    const stored = await findFeedSource(db, merchId)
    const before = stored === null ? null : await sourceRecord(call)
    requireMatch(call.ifMatch, before === null ? {} : settingsOf(before))
    await setFeedSource(db, {
      merch_id: merchId,
      url: sourceUrl(body, stored),
      ...readOptions(body),
      every_hours: SCHEDULES[body.schedule ?? 'every_6_hours'],
    })
    const after = await sourceRecord(call)
    const hasNewPassword = body.password !== undefined
    const target = `merchant:${merchId}`
    await call.audit({
      ...{ action: 'feed.update', target, before },
      after: { ...after, has_new_password: hasNewPassword },
    })
    return [after]
  },
})

const deleteSource = action({
  ...SHARED,
  id: 'deleteFeedSource',
  method: 'DELETE',
  path: FEED,
  summary: 'Fetch the feed of a merchant no longer',
  description: 'Its offers stay, and bid until they are 24 hours old.',
  permission: 'feeds.write',
  entry: Type.Object({}),
  run: async (call) => {
    const { merch_id: merchId } = call.params
    const before = await sourceRecord(call)
    await dropFeedSource(call.db, merchId)
    await call.audit({ action: 'feed.delete', target: `merchant:${merchId}`, before })
    return []
  },
})

const ImportQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Judge every row and change nothing' })),
  format: Type.Optional(Type.Enum([...FEED_FORMATS], { description: 'Default: the source’s' })),
  default_currency: Type.Optional(Type.String({ description: 'Default: the source’s' })),
  element: Type.Optional(Type.String({ description: 'Default: the source’s' })),
  map: Type.Optional(
    Type.String({
      maxLength: MAP_LENGTH_MAX,
      description: 'JSON: for each field the names of its columns. Default: the source’s',
    }),
  ),
})

const startImport = ({ db: database, startImport: start }: FeedDeps) =>
  action({
    ...SHARED,
    id: 'importFeed',
    method: 'POST',
    path: IMPORTS,
    summary: 'Import the feed of a merchant now',
    description:
      'Without a body, the feed is fetched from its source. Else the body is the feed itself, of ' +
      'any content type, plain, gzip or zip, up to 1 GiB. The import goes on after the answer; a ' +
      'merchant has one at a time (409). One that fails or is stopped changes nothing.',
    permission: 'feeds.write',
    status: 202,
    isLong: true,
    takesFile: true,
    bodyBytesMax: UPLOAD_BYTES_MAX,
    query: ImportQuery,
    entry: ImportRecord,
    run: async (call) => {
      const { merch_id: merchId } = call.params
      const file = givenFile(call)
      const isUpload = file !== null
      if (isUpload && (file.bytes ?? 0) > UPLOAD_BYTES_MAX) throw tooLarge(UPLOAD_BYTES_MAX)
      const source = await findFeedSource(call.db, merchId)
      const options = { ...optionsOf(source ?? NO_OPTIONS), ...readQuery(call.query) }
      if (!isUpload && source === null) throw noSource()
      const url = isUpload ? null : (source?.url ?? null)
      const importId = await begin(call, { url, state: isUpload ? 'receiving' : 'waiting' })
      const path = isUpload ? await receive(database, importId, file) : null
      const servedAs = charsetIn(file?.contentType ?? '')
      const isDryRun = call.query.dry_run === true
      start({ importId, merchId, isDryRun, url, path, servedAs, options })
      return [toImportRecord(await requireRun(call, importId))]
    },
  })

const listImports = list({
  ...SHARED,
  id: 'listFeedImports',
  path: IMPORTS,
  summary: 'The imports of a merchant’s feed, newest first',
  permission: 'figures.read',
  entry: ImportRecord,
  run: async ({ db, params, query: { limit, cursor } }) => {
    const [beforeId = null] = readCursor(cursor, ['id']) ?? []
    const page = { merchId: params.merch_id, beforeId: beforeId as string | null }
    return pageOf(await listRuns(db, { ...page, limit: limit + 1 }), limit, {
      cursorOf: (run) => [run.import_id],
      entryOf: toImportRecord,
    })
  },
})

const readImport = action({
  ...SHARED,
  id: 'readFeedImport',
  method: 'GET',
  path: `${IMPORTS}:import_id/`,
  summary: 'An import: its state, progress and result',
  permission: 'figures.read',
  params: ImportParams,
  entry: ImportRecord,
  run: async (call) => [toImportRecord(await requireRun(call, call.params.import_id))],
})

const listImportRejects = list({
  tag: 'merchants',
  id: 'listFeedRejects',
  path: `${IMPORTS}:import_id/rejects/`,
  summary: 'The rows that an import rejected, and how to fix them',
  permission: 'figures.read',
  params: ImportParams,
  query: Type.Object({ reason: Type.Optional(Type.Enum(REJECT_REASONS)) }),
  entry: RejectRecord,
  run: async (call) => {
    const { limit, cursor, reason = null } = call.query
    const run = await requireRun(call, call.params.import_id)
    const [afterId = 0] = readCursor(cursor, ['integer']) ?? []
    const page = { importId: run.import_id, reason, afterId: Number(afterId), limit: limit + 1 }
    return pageOf(await listRejects(call.db, page), limit, {
      cursorOf: ({ reject_id }) => [reject_id],
      entryOf: (reject) => toRejectRecord(reject, run),
    })
  },
})

export const feedOperations = (deps: FeedDeps): Operation[] => [
  readSource,
  replaceSource,
  deleteSource,
  startImport(deps),
  listImports,
  readImport,
  listImportRejects,
]

/** Imports change the other fields. */
function settingsOf(record: Static<typeof SourceRecord>): object {
  const { error: _, feed_imported_at: __, ...settings } = record
  return settings
}

type MerchantCall = Call<Static<typeof MerchantParams>, unknown, unknown>

async function sourceRecord({ db, params }: MerchantCall) {
  const source = await findFeedSource(db, params.merch_id)
  if (source === null) throw notFound('No source of a feed is set')
  const { feed_imported_at } = await requireMerchant(db, params.merch_id)
  return toSourceRecord(source, feed_imported_at)
}

/** No feed has two bytes: clients that always send JSON send `{}` for nothing. */
const NOTHING_BYTES_MAX = 2

function givenFile({ file }: Pick<MerchantCall, 'file'>): UploadedFile | null {
  if (file === null || file.bytes === null || file.bytes > NOTHING_BYTES_MAX) return file
  file.stream.resume()
  return null
}

const noSource = () =>
  new ApiError('wrongState', { message: 'No source is set: set one, or send the feed as the body' })

/** Begins the import and writes who did, before any of the file is read. */
function begin(
  {
    db,
    params,
    query,
    audit,
  }: Call<Static<typeof MerchantParams>, Static<typeof ImportQuery>, unknown>,
  { url, state }: { url: string | null; state: RunState },
): Promise<string> {
  const { merch_id } = params
  const { dry_run: is_dry_run = false } = query
  const source = url === null ? 'upload' : 'url'
  const shown = url === null ? null : withoutPassword(new URL(url))
  return db.transaction(async (tx) => {
    const run = { merch_id, source, is_dry_run, state, url: shown } as const
    const importId = await insertRun(tx, run)
    if (importId === null) {
      const message = 'Another import of this merchant is running; wait until it has ended'
      throw new ApiError('wrongState', { message })
    }
    const after = { source, dry_run: is_dry_run, url: shown }
    await audit({ action: 'feed.import', target: `feed_import:${importId}`, after }, tx)
    return importId
  })
}

/** The path of the received file. A broken upload ends the import. */
async function receive(db: Database, importId: string, file: UploadedFile): Promise<string> {
  const run = new RecordedRun(db, importId, 'receiving')
  const { bytes: totalBytes, stream } = file
  try {
    const { path } = await receiveFeed(stream, {
      bytesMax: UPLOAD_BYTES_MAX,
      onBytes: (bytes) => run.progress('receiving', { rows: 0, bytes, totalBytes }),
    })
    await run.received()
    return path
  } catch (error) {
    const known = error instanceof ApiError ? error : null
    await run.fail(known?.message ?? 'The upload broke off; nothing was changed')
    throw known ?? badRequest([{ field: 'body', rule: 'broke off before its end' }])
  }
}

async function requireRun(
  { db, params }: Pick<MerchantCall, 'db' | 'params'>,
  importId: string,
): Promise<FeedRun> {
  const wanted = { merchId: params.merch_id, importId }
  const run = isId(importId) ? await findRun(db, wanted) : null
  if (run === null) throw notFound(`No import ${importId}`)
  return run
}

const optionsOf = ({ format, map, currency, element }: FeedOptions): FeedOptions => ({
  ...{ format, map, currency, element },
})

/** Every fault of the three fields at once. */
function readOptions(body: SourceBody): FeedOptions {
  const faults: Fault[] = []
  const read = <T>(field: string, work: () => T, otherwise: T): T => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ApiError) || !Array.isArray(error.data)) throw error
      faults.push(...error.data.map((fault: Fault) => ({ ...fault, field: fault.field || field })))
      return otherwise
    }
  }
  const { format = 'auto', map = null, default_currency: currency = null, element = null } = body
  const options: FeedOptions = {
    format,
    map: map === null ? null : read('map', () => readFeedMap(JSON.stringify(map)), null),
    currency:
      currency === null
        ? null
        : read('default_currency', () => requireCurrency('default_currency', currency), null),
    element: element === null ? null : read('element', () => requireElement(element), null),
  }
  if (faults.length > 0) throw badRequest(faults)
  return options
}

function readQuery(query: Static<typeof ImportQuery>): Partial<FeedOptions> {
  const { format, default_currency: currency, element, map } = query
  return {
    ...(format === undefined ? {} : { format }),
    ...(currency === undefined ? {} : { currency: requireCurrency('default_currency', currency) }),
    ...(element === undefined ? {} : { element: requireElement(element) }),
    ...(map === undefined ? {} : { map: readFeedMap(map) }),
  }
}
