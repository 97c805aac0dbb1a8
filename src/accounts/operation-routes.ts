/** Serves operations as routes: who may call, idempotency, etags, pages and CSV files. */
import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TObject, type TSchema } from 'typebox'
import { allowLongBody } from '../platform/http/body-timeout.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import {
  IdempotencyKey,
  idempotencyKeyFaults,
  readIdempotencyKey,
} from '../platform/http/idempotency-key.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type CsvCell, csvTableLine } from '../platform/text/csv.ts'
import { callerName } from './caller.ts'
import { etagOf } from './etag.ts'
import { once } from './idempotency-store.ts'
import { requireOrganization } from './membership-store.ts'
import {
  type Action,
  admit,
  type Form,
  type FormType,
  type List,
  type Operation,
  organizationOf,
  type Page,
  type PageQuery,
  runAction,
  toCall,
  type UploadedFile,
} from './operation.ts'
import { holderOf, type KeyGuard } from './require-key.ts'

/** Rows of a page, unless the caller asks for fewer or more. */
const PAGE_ROWS = 100
export const PAGE_ROWS_MAX = 500

interface RouteDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly now: () => Date
}

/** A caller is a key, or a session with its CSRF token. */
const SECURITY = [{ apiKey: [] }, { session: [] }]

export const operationRoutes =
  (deps: RouteDeps, operations: readonly Operation[]): FastifyPluginAsyncTypebox =>
  async (app) => {
    const takesFile = (operation: Operation) => operation.kind === 'action' && operation.takesFile
    addRoutes(
      app,
      deps,
      operations.filter((operation) => !takesFile(operation)),
    )
    await app.register(async (files) => {
      // A file may have any type; it is passed on as it arrives.
      files.removeAllContentTypeParsers()
      files.addContentTypeParser('*', (request, payload, done) => {
        allowLongBody(request.raw)
        done(null, payload)
      })
      addRoutes(files, deps, operations.filter(takesFile))
    })
  }

function addRoutes(
  app: Parameters<FastifyPluginAsyncTypebox>[0],
  deps: RouteDeps,
  operations: readonly Operation[],
): void {
  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: operation.path,
      ...(operation.bodyBytesMax === undefined ? {} : { bodyLimit: operation.bodyBytesMax }),
      config: {
        permission: operation.permission,
        rules: ({ headers, params, query, body }: FastifyRequest) => [
          ...idempotencyKeyFaults(headers['idempotency-key']),
          ...(operation.faults?.({ params, query, body }) ?? []),
        ],
      },
      onRequest: async (request) => {
        await deps.keys.require(request)
        // Checked before the request's content is validated, so that errors reveal no other's
        // records.
        const params = request.params as Record<string, unknown>
        admit(operation, holderOf(request), params)
        await requireOrganization(deps.db, organizationOf(operation.path, params))
      },
      schema: schemaOf(operation),
      handler: (request, reply) =>
        operation.kind === 'list'
          ? answerList(deps, operation, request, reply)
          : answerAction(deps, operation, request, reply),
    })
  }
}

function schemaOf(operation: Operation) {
  const { id, tag, summary, description, permission, params, query, body, entry } = operation
  const isList = operation.kind === 'list'
  const isCreating = operation.status === 201
  const headers = Type.Object({
    ...(isCreating ? { 'idempotency-key': IdempotencyKey } : {}),
    ...(operation.kind === 'action' &&
    operation.hasEtag &&
    operation.method !== 'GET' &&
    !isCreating
      ? { 'if-match': IfMatch }
      : {}),
  })
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    'x-permission': permission,
    security: SECURITY,
    ...(params === undefined ? {} : { params }),
    ...(isList || query !== undefined
      ? { querystring: Type.Object({ ...query?.properties, ...(isList ? PAGE_QUERY : {}) }) }
      : {}),
    ...(body === undefined ? {} : { body }),
    // The reference names the body: a schema would make the server parse it.
    ...(operation.kind === 'action' && operation.takesFile ? { 'x-takes-file': true } : {}),
    ...(Object.keys(headers.properties).length === 0 ? {} : { headers }),
    response: { [operation.status ?? 200]: answerOf(operation, entry) },
  }
}

const IfMatch = Type.Optional(
  Type.String({ description: 'The `etag` of the record as it was read; 412 if it has changed' }),
)
const Etag = Type.String({ description: 'Changes with the record; for `If-Match`' })

const PAGE_QUERY = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_ROWS_MAX, description: `Default ${PAGE_ROWS}` }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 300, description: 'The `next_cursor` of the page before' }),
  ),
}

/** With each form, where there are others than JSON. */
function answerOf(operation: Operation, entry: TSchema) {
  const schema = responseOf(operation, entry)
  const forms = operation.kind === 'action' ? Object.keys(operation.forms ?? {}) : []
  if (forms.length === 0) return schema
  const types = forms.map((type) => [type, { schema: Type.String() }])
  const content = { 'application/json': { schema }, ...Object.fromEntries(types) }
  return { description: 'By `Accept`', content }
}

function responseOf(operation: Operation, entry: TSchema) {
  if (operation.kind === 'list') {
    return Type.Object({
      ...envelope(entry).properties,
      next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Null at the end' }),
    })
  }
  if (!operation.hasEtag) return envelope(entry)
  return envelope(Type.Object({ ...(entry as TObject).properties, etag: Etag }))
}

const askedBy = (request: FastifyRequest, { db, now }: { db: Db; now: Date }) => ({
  db,
  caller: holderOf(request),
  now,
  params: request.params,
  query: request.query,
  body: request.body,
  requestId: request.id,
  address: request.clientAddress,
  ifMatch: request.headers['if-match'] ?? null,
  file: fileOf(request),
})

function fileOf({ body, headers }: FastifyRequest): UploadedFile | null {
  if (!(body instanceof Readable)) return null
  const { 'content-length': length, 'content-type': contentType = null } = headers
  return { stream: body, bytes: length === undefined ? null : Number(length), contentType }
}

async function answerAction(
  { db, now }: RouteDeps,
  operation: Action,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { status = 200, hasEtag = false } = operation
  const run = (tx: Db) => runAction(operation, askedBy(request, { db: tx, now: now() }))
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  const work = { caller: callerName(holderOf(request)), key, status, toStored: toStored(operation) }
  const body = [request.url, request.body]
  const data =
    status === 201 && key !== null ? await once(db, { ...work, body }, run) : await run(db)
  const { versionOf = (record: object) => record } = operation
  const entries = hasEtag
    ? data.map((record) => ({ ...(record as object), etag: etagOf(versionOf(record as object)) }))
    : data
  const [single] = entries
  const form = formFor(operation, request.headers.accept)
  if (form !== null && single !== undefined) {
    const { headers, text } = form(single)
    return reply.headers(headers).send(text)
  }
  if (hasEtag && entries.length === 1) reply.header('etag', `"${(single as Tagged).etag}"`)
  return reply.status(status).send(ok(status, ...entries))
}

/** The form that the caller asks for; null: JSON. */
function formFor({ forms = {} }: Action, accept = ''): ((record: unknown) => Form) | null {
  const wanted = FORM_TYPES.find((type) => type in forms && accept.includes(type))
  return wanted === undefined ? null : (forms[wanted] ?? null)
}
const FORM_TYPES: readonly FormType[] = ['text/html', 'text/csv']

/** Without the fields that only the first answer shows. */
const toStored =
  ({ secretFields = [] }: Action) =>
  (entries: readonly unknown[]): readonly unknown[] => {
    const hidden = Object.fromEntries(secretFields.map((name) => [name, null]))
    return entries.map((entry) => ({ ...(entry as object), ...hidden }))
  }

interface Tagged {
  readonly etag: string
}

async function answerList(
  { db, now }: RouteDeps,
  operation: List,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { limit = PAGE_ROWS, cursor = null, ...query } = request.query as Partial<PageQuery>
  const read = (page: PageQuery) =>
    operation.run(
      toCall(operation.path, {
        ...askedBy(request, { db, now: now() }),
        query: { ...query, ...page },
      }),
    )
  if (request.headers.accept?.includes('text/csv')) {
    // A refusal must come before the file begins: afterwards it could only break off.
    const first = await read({ limit: PAGE_ROWS_MAX, cursor: null })
    const file = Readable.from(csvOf(operation, first, read))
    return reply.header('content-type', 'text/csv; charset=utf-8; header=present').send(file)
  }
  const { rows, nextCursor } = await read({ limit, cursor })
  return reply.send({ ...ok(200, ...rows), next_cursor: nextCursor })
}

/** All pages as one file: a column per property of an entry. */
async function* csvOf(
  { entry }: List,
  first: Page<object>,
  read: (page: PageQuery) => Promise<Page<object>>,
): AsyncGenerator<string> {
  const columns = Object.keys((entry as TObject).properties)
  yield csvTableLine(columns)
  let page = first
  for (;;) {
    yield page.rows
      .map((row) =>
        csvTableLine(columns.map((name) => toCell((row as Record<string, unknown>)[name]))),
      )
      .join('')
    if (page.nextCursor === null) return
    page = await read({ limit: PAGE_ROWS_MAX, cursor: page.nextCursor })
  }
}

function toCell(value: unknown): CsvCell {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return { text: typeof value === 'string' ? value : JSON.stringify(value) }
}
