/**
 * A publisher's day run again: the earnings under other settings, and the reasons of unfilled
 * links. Each run has a separate thread, so redirects do not wait for it.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  CATEGORY_FLOOR_RULE,
  type CategoryFloor,
  categoryFloorFaults,
  parseCategoryFloor,
} from '../accounts/category-floor.ts'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import { FLOOR_MAX, LIST_LENGTH_MAX } from '../accounts/publisher.ts'
import { holderOf, type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { CLIENT_TIMEOUT_MS } from '../platform/concurrency/concurrency-limiter.ts'
import { type Fault, notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { listOf } from '../platform/http/validation.ts'
import { micros, PPM, parseDollars } from '../platform/money/money.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { DayRuns, dayFaults } from './day-runs.ts'
import {
  NoFillQuery,
  NoFillReason,
  WhatIf,
  WhatIfBody,
  WhatIfJob,
  WhatIfJobParams,
} from './result-schema.ts'
import type { WhatIfChange } from './what-if.ts'
import { findJob, type JobRow } from './what-if-job-store.ts'
import { WhatIfJobs } from './what-if-jobs.ts'

export interface DayRunDeps {
  readonly db: Database
  readonly keys: KeyGuard
  readonly baseUrl: string
  readonly now: () => Date
  readonly onError: (error: unknown) => void
}

/** docs/spec/auction.md#ranges */
const ESTIMATES =
  'Amounts are estimates: a bid that did not set the price counts with the middle of the range that ' +
  'its receipt shows.'

const JOB_DESCRIPTION =
  'A day that is run again within two seconds is answered with 200. A longer one is answered ' +
  'with 202 and the URL of a job, which shows its progress and, for 24 hours, its result. Of one ' +
  'caller one job runs at a time, and at most 32 wait.'

export const dayRunRoutes =
  ({ db, keys, baseUrl, now, onError }: DayRunDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read' })
    const days = new DayRuns(db)
    const jobs = new WhatIfJobs({ db, days, now, onError })
    app.addHook('onClose', async () => {
      await days.close()
      await jobs.close()
    })
    await app.register(noFillRoute({ db, days }))

    app.post(
      '/api/v1/what_if/',
      {
        config: { rules: ({ body }) => changeFaults(body as object) },
        schema: {
          operationId: 'askWhatIf',
          summary: 'A day’s auctions under other settings',
          description: `${JOB_DESCRIPTION} ${ESTIMATES}`,
          security: NEEDS_KEY,
          body: WhatIfBody,
          response: { 200: envelope(WhatIf), 202: envelope(WhatIfJob) },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId, date: day } = request.body
        const holder = holderOf(request)
        await requireExistingOwnPublisher(db, request, pubId)
        const change = readChange(request.body)
        const answer = await jobs.ask(holder.uid, { pubId, day, change })
        if ('result' in answer) return reply.send(ok(200, answer.result))
        const job = await requireJob(db, { jobId: answer.jobId, uid: holder.uid, now: now() })
        reply.status(202).header('location', jobPath(job.job_id))
        return reply.send(ok(202, toJob(job, baseUrl)))
      },
    )

    app.get(
      '/api/v1/what_if/:job_id/',
      {
        schema: {
          operationId: 'readWhatIf',
          summary: 'How far a day is, and its result',
          security: NEEDS_KEY,
          params: WhatIfJobParams,
          response: { 200: envelope(WhatIfJob) },
        },
      },
      async (request) => {
        const { uid } = holderOf(request)
        const job = await requireJob(db, { jobId: request.params.job_id, uid, now: now() })
        return ok(200, toJob(job, baseUrl))
      },
    )
  }

const jobPath = (jobId: string): string => `/api/v1/what_if/${jobId}/`

async function requireJob(db: Database, wanted: Parameters<typeof findJob>[1]): Promise<JobRow> {
  const job = await findJob(db, wanted)
  if (job === null) throw notFound('No such job of yours')
  return job
}

function toJob(job: JobRow, baseUrl: string): WhatIfJob {
  return { ...job, url: baseUrl + jobPath(job.job_id) }
}

const noFillRoute =
  ({ db, days }: { db: Database; days: DayRuns }): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/publishers/:pub_id/no_fill/',
      {
        config: { rules: ({ query }) => dayFaults(query as { date?: unknown }) },
        schema: {
          operationId: 'rankNoFill',
          summary: 'Why links went unfilled, by money missed',
          description: ESTIMATES,
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: NoFillQuery,
          response: { 200: envelope(NoFillReason) },
        },
      },
      async (request) => {
        const pubId = request.params.pub_id
        const holder = holderOf(request)
        await requireExistingOwnPublisher(db, request, pubId)
        const { reasons } = await days.run({
          ...{ pubId, day: request.query.date, run: { kind: 'noFill' } },
          ...{ owner: `user ${holder.uid}`, timeoutMs: CLIENT_TIMEOUT_MS },
        })
        return ok(200, ...reasons)
      },
    )
  }

const isText = (value: unknown): value is string => typeof value === 'string'

/**
 * Faults that the schema cannot express. Values of a wrong type are left to the schema, because not
 * every value has a text form.
 */
function changeFaults(body: Partial<Record<keyof WhatIfBody, unknown>> | null): Fault[] {
  const {
    date,
    floor,
    category_floors,
    allow_merchants: allowed,
    block_merchants: blocked,
  } = body ?? {}
  const list = (value: unknown) => listOf(value, LIST_LENGTH_MAX)
  const texts = list(category_floors).filter(isText)
  const faults = categoryFaults(
    texts,
    texts.flatMap((text) => parseCategoryFloor(text) ?? []),
  )
  faults.push(...dayFaults({ date }))
  const floorMicros = isText(floor) ? parseDollars(floor) : micros(0)
  if (floorMicros === null) {
    faults.push({ field: 'floor', rule: 'must be US dollars, such as "0.05"' })
  } else if (floorMicros > FLOOR_MAX) {
    faults.push({ field: 'floor', rule: 'must be from $0 to $9000 a click' })
  }
  const both = list(allowed).filter((id) => Number.isInteger(id) && list(blocked).includes(id))
  if (both.length > 0) {
    faults.push({ field: 'block_merchants', rule: `also allowed: merchant ${both.join(', ')}` })
  }
  return faults
}

/** The change of a valid body. */
function readChange(body: WhatIfBody): WhatIfChange {
  const floorMicros = parseDollars(body.floor ?? '')
  const { tolerance, beta, require_price, pricing, allow_merchants, block_merchants } = body
  const categoryFloors = body.category_floors?.flatMap((text) => parseCategoryFloor(text) ?? [])
  return {
    ...(floorMicros === null ? {} : { floorMicros }),
    ...(categoryFloors === undefined ? {} : { categoryFloors }),
    ...(tolerance === undefined ? {} : { tolerancePpm: Math.round(tolerance * PPM) }),
    ...(beta === undefined ? {} : { beta }),
    ...(require_price === undefined ? {} : { isPriceRequired: require_price }),
    ...(pricing === undefined ? {} : { isFirstPrice: pricing === 'first_price' }),
    ...(allow_merchants === undefined ? {} : { allowMerchants: allow_merchants }),
    ...(block_merchants === undefined ? {} : { blockMerchants: block_merchants }),
  }
}

/** As for a publisher's own floors, under the body's field name. */
function categoryFaults(texts: readonly string[], floors: readonly CategoryFloor[]): Fault[] {
  const field = 'category_floors'
  const isRead = floors.length === texts.length
  const rules = categoryFloorFaults(floors, { floorMax: FLOOR_MAX, lengthMax: LIST_LENGTH_MAX })
  return [...(isRead ? [] : [{ field, rule: CATEGORY_FLOOR_RULE }]), ...rules].map(({ rule }) => ({
    field,
    rule,
  }))
}
