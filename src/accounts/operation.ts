/**
 * An operation: one action of a user, as a function with its permission and its shapes.
 *
 * Routes, commands and the dashboard call the same operations: a route by `operationRoutes`, a
 * command by `perform`. The caller's permission is checked here, before the operation runs.
 */
import type { Readable } from 'node:stream'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { addFaults, compileCheck } from '../platform/http/validation.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type AuditContext, type Change, writeAudit } from './audit-store.ts'
import { authorize, type Caller, permissionsIn } from './caller.ts'
import { NETWORK, type Organization, type Permission } from './permission.ts'

/** The parts of the reference; also the order in which it shows them. */
export type Tag = 'account' | 'publishers' | 'merchants' | 'network'

const Nothing = Type.Object({})

/** What an operation gets to know about its call. */
export interface Call<Params, Query, Body> {
  /** The transaction of a change; the database itself for reading operations. */
  readonly db: Db
  readonly caller: Caller
  /** The organization that the path names; the network's for operations on one's own account. */
  readonly organization: Organization
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly now: Date
  readonly requestId: string | null
  /** The client's address; null for a command. */
  readonly address: string | null
  /** Of an operation that takes one. */
  readonly file: UploadedFile | null
  /** The `etag` that the record must still have; null where the caller asks for none. */
  readonly ifMatch: string | null
  /** Writes what was changed, in the same transaction. */
  readonly audit: (change: Change, tx?: Db) => Promise<void>
}

/** The body of an operation that takes a file; without a body, or for a command, there is none. */
export interface UploadedFile {
  readonly stream: Readable
  /** As the client said; a file may be longer. */
  readonly bytes: number | null
  readonly contentType: string | null
}

/** One page of a list; `nextCursor` is null at its end. */
export interface Page<Entry> {
  readonly rows: readonly Entry[]
  readonly nextCursor: string | null
}

/** What a call has, before it is checked. */
export interface Sent {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

interface Spec<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Entry extends TSchema,
> {
  /** The `operationId`, unique: `updateCampaign`. */
  readonly id: string
  readonly tag: Tag
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:pub_id` after `/publishers/`, or `:merch_id` after `/merchants/`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  /** Null: about oneself, whatever one's role. */
  readonly permission: Permission | null
  /**
   * The parameter that names a user. The caller needs no permission for itself, but must belong to
   * the organization: everybody may leave.
   */
  readonly selfParam?: 'uid'
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Faults that a schema cannot express, listed beside its own. What was sent may be anything. */
  readonly faults?: (sent: Sent) => readonly Fault[]
  /** The shape of an entry of `data`; an object without properties where there is none. */
  readonly entry: Entry
  /** 200 unless something is created (201) or started (202). */
  readonly status?: 200 | 201 | 202
  /** The largest body in bytes; else the limit of all routes. */
  readonly bodyBytesMax?: number
}

export type FormType = 'text/csv' | 'text/html'

export interface Form {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** An operation that answers records: one, several, or none. */
export interface Action<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Entry extends TSchema = TSchema,
> extends Spec<Params, Query, Body, Entry> {
  readonly kind: 'action'
  /** Whether its record has an `etag`, which a change may ask for with `If-Match`. */
  readonly hasEtag?: boolean
  /** The part of the record that its etag covers, if figures in it change by themselves. */
  readonly versionOf?: (record: Static<Entry>) => object
  /**
   * Whether `run` opens its transactions itself, because its work takes long. It must then pass
   * the transaction of a change to `audit`.
   */
  readonly isLong?: boolean
  /**
   * Fields that only the first answer of a creation shows. They are not stored: a repeated call
   * with its `Idempotency-Key` gets null.
   */
  readonly secretFields?: readonly string[]
  /**
   * Whether the body is a file of any type, up to `bodyBytesMax`: `run` gets it as a stream
   * (`UploadedFile`), and may take an hour to read it.
   */
  readonly takesFile?: boolean
  /** Other forms of its one record, for callers whose `Accept` names them. */
  readonly forms?: Partial<Record<FormType, (record: Static<Entry>) => Form>>
  readonly run: (
    call: Call<Static<Params>, Static<Query>, Static<Body>>,
  ) => Promise<readonly Static<Entry>[]>
}

/** An operation that answers a list by pages; `text/csv` gets all pages as one file. */
export interface List<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Entry extends TObject = TObject,
> extends Spec<Params, Query, TSchema, Entry> {
  readonly kind: 'list'
  readonly method: 'GET'
  readonly run: (
    call: Call<Static<Params>, Static<Query> & PageQuery, unknown>,
  ) => Promise<Page<Static<Entry>>>
}

/** What every list takes beside its filters. */
export interface PageQuery {
  readonly limit: number
  readonly cursor: string | null
}

// biome-ignore lint/suspicious/noExplicitAny: one list contains operations of any shapes.
export type Operation = Action<any, any, any, any> | List<any, any, any>

/** Declares an operation; only infers its types. */
export function action<
  Params extends TObject = typeof Nothing,
  Query extends TObject = typeof Nothing,
  Body extends TSchema = typeof Nothing,
  Entry extends TSchema = typeof Nothing,
>(spec: Omit<Action<Params, Query, Body, Entry>, 'kind'>): Action<Params, Query, Body, Entry> {
  return { kind: 'action', ...spec }
}

/** Declares a list; only infers its types. */
export function list<
  Params extends TObject = typeof Nothing,
  Query extends TObject = typeof Nothing,
  Entry extends TObject = typeof Nothing,
>(spec: Omit<List<Params, Query, Entry>, 'kind' | 'method'>): List<Params, Query, Entry> {
  return { kind: 'list', method: 'GET', ...spec }
}

/** The organization that a path names: of a publisher, a merchant, or the network. */
export function organizationOf(
  path: string,
  params: Readonly<Record<string, unknown>>,
): Organization {
  if (path.startsWith('/api/v1/publishers/:pub_id')) {
    return { kind: 'publisher', id: Number(params.pub_id) }
  }
  if (path.startsWith('/api/v1/merchants/:merch_id')) {
    return { kind: 'merchant', id: Number(params.merch_id) }
  }
  return NETWORK
}

/** Throws a 403 where the caller may not do this. */
export function admit(
  { path, permission, selfParam }: Pick<Operation, 'path' | 'permission' | 'selfParam'>,
  caller: Caller,
  params: Readonly<Record<string, unknown>>,
): void {
  if (permission === null) return
  const organization = organizationOf(path, params)
  const isOneself = selfParam !== undefined && Number(params[selfParam]) === caller.uid
  // Scopes also limit a key in operations that need no permission.
  if (isOneself && caller.scopes === null && permissionsIn(caller, organization) !== null) return
  authorize(caller, organization, permission)
}

/** The input of an operation from its edge: caller, time, and request. */
export interface Asked {
  readonly db: Db
  readonly caller: Caller
  readonly now: Date
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly requestId?: string | null
  readonly address?: string | null
  readonly ifMatch?: string | null
  readonly file?: UploadedFile | null
  /** Only of a generated history: when the audit log says that it happened. */
  readonly auditedAt?: Date
}

/** The call of an operation whose parts were checked. */
export function toCall(path: string, asked: Asked): Call<never, never, never> {
  const { db, caller, now, requestId = null, address = null, ifMatch = null, file = null } = asked
  const params = (asked.params ?? {}) as Record<string, unknown>
  const organization = organizationOf(path, params)
  const context: AuditContext = { caller, organization, requestId, at: asked.auditedAt }
  return {
    db,
    caller,
    organization,
    params: params as never,
    query: (asked.query ?? {}) as never,
    body: (asked.body ?? {}) as never,
    now,
    requestId,
    address,
    ifMatch,
    file,
    audit: (change, tx = db) => writeAudit(tx, context, change),
  }
}

/** Runs an action whose call was admitted and checked: a change in one transaction. */
export function runAction(operation: Action, asked: Asked): Promise<readonly unknown[]> {
  const run = (db: Db) => operation.run(toCall(operation.path, { ...asked, db }))
  if (operation.method === 'GET' || operation.isLong === true) return run(asked.db)
  return asked.db.transaction(run)
}

/**
 * Runs an action outside of a request, for a command: checks the permission and every part. Throws
 * the errors of the route.
 */
export async function perform<
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Entry extends TSchema,
>(
  operation: Action<Params, Query, Body, Entry>,
  asked: Asked & {
    readonly params?: Static<Params>
    readonly query?: Static<Query>
    readonly body?: Static<Body>
  },
): Promise<readonly Static<Entry>[]> {
  admit(operation, asked.caller, (asked.params ?? {}) as Record<string, unknown>)
  const { params = {}, query = {}, body = {} } = asked
  const found = [
    ...compileCheck(operation.params ?? Nothing).faults(params),
    ...compileCheck(operation.query ?? Nothing).faults(query),
    ...compileCheck(operation.body ?? Nothing).faults(body),
  ]
  const faults = addFaults(found, operation.faults?.({ params, query, body }) ?? [])
  if (faults.length > 0) throw badRequest(faults)
  return runAction(operation as unknown as Action, asked) as Promise<readonly Static<Entry>[]>
}
