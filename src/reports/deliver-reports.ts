/**
 * Scheduled report files: the last seven days of every report, rewritten each time, to a folder or
 * S3-compatible storage. Unchanged days give the same bytes.
 */
import { bytes } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import type { Dispatcher } from 'undici'
import { formatError } from '../platform/errors/format-error.ts'
import { guardedAgent, PrivateAddressError } from '../platform/net/fetch-guard.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import {
  listReportDeliveries,
  type ReportDelivery,
  recordDelivered,
  recordTried,
} from './delivery-store.ts'
import { giveFiles, intoFolder, type TakeFile } from './export.ts'
import { openReports } from './read-report.ts'
import { REPORT_NAMES } from './report.ts'

/**
 * Documented: each run rewrites the last seven days, including today. A run after a longer break
 * (the service was off, or the target down) goes back further, so that no day stays incomplete.
 */
const DAYS = 7
/** For one file, including retries. */
const UPLOAD_MS = 120_000
const RETRIES_MAX = 3
const RETRY_MS = 100
const ERROR_LENGTH_MAX = 500

export interface DeliveredReports {
  readonly delivery_id: number
  readonly target: string
  readonly files: number
  readonly error: string | null
}

export interface DeliveryWish {
  /** Only the deliveries that somebody wants at once. */
  readonly onlyRequested?: boolean
}

/**
 * Delivers to all targets, the least recently tried first, because a few slow storages may use up a
 * run's whole time. A failing target does not block others. Only tests set another limit.
 */
export async function deliverReports(
  db: Db,
  now: Date,
  {
    uploadMs = UPLOAD_MS,
    allowPrivate = false,
    onlyRequested = false,
  }: DeliveryWish & {
    readonly uploadMs?: number
    /** Whether storage that publishers set may be in the operator's network. */
    readonly allowPrivate?: boolean
  } = {},
): Promise<DeliveredReports[]> {
  const results: DeliveredReports[] = []
  const all = await listReportDeliveries(db)
  const deliveries = onlyRequested ? all.filter((one) => one.requested_at !== null) : all
  for (const delivery of deliveries.toSorted(byLastTry)) {
    const { delivery_id, target } = delivery
    await recordTried(db, { deliveryId: delivery_id, at: now })
    let [files, error]: [number, string | null] = [0, null]
    const agent = guardedAgent({ allowPrivate: allowPrivate || !delivery.is_guarded })
    try {
      files = await deliverTo(db, delivery, { now, uploadMs, agent })
    } catch (cause) {
      error = inWords(cause).slice(0, ERROR_LENGTH_MAX)
    } finally {
      await agent.destroy()
    }
    await recordDelivered(db, { deliveryId: delivery_id, at: now, error })
    results.push({ delivery_id, target, files, error })
  }
  return results
}

function byLastTry(one: ReportDelivery, other: ReportDelivery): number {
  const msOf = ({ tried_at: at }: ReportDelivery) => at?.getTime() ?? 0
  return msOf(one) - msOf(other) || one.delivery_id - other.delivery_id
}

/** The reason is often in the cause. Publishers see these words, so no address is among them. */
function inWords(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'the storage has no public address'
  if (!(error instanceof Error) || error.cause === undefined) return formatError(error)
  return `${error.message}: ${inWords(error.cause)}`
}

async function deliverTo(
  db: Db,
  delivery: ReportDelivery,
  { now, ...limits }: { readonly now: Date } & Way,
): Promise<number> {
  const { pub_id: pubId, slug, is_gzip: isGzip, delivered_at: deliveredAt, target } = delivery
  const source = openReports(db, { pubId, now })
  const weekAgo = new Date(now.getTime() - (DAYS - 1) * DAY_MS)
  // After a longer break: the last delivery ended in the middle of a day.
  const from = deliveredAt !== null && deliveredAt < weekAgo ? deliveredAt : weekAgo
  const range = { pubId, slug, dayFrom: utcDay(from), dayTo: utcDay(now), now, isGzip }
  const bucket = readBucket(target)
  const take = bucket === null ? intoFolder(target) : intoBucket(bucket, { ...delivery, ...limits })
  let files = 0
  for (const report of REPORT_NAMES) {
    files += (await giveFiles(source, { ...range, report }, take)).length
  }
  return files
}

/** `bucket/prefix` of an s3:// target; null for a folder. */
export function readBucket(target: string): string | null {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[^/?#]+)*)\/?$/.exec(target)
  return match === null ? null : `${match[1]}${match[2]}`
}

const DEFAULT_REGION = 'us-east-1'

interface Way {
  readonly uploadMs: number
  readonly agent: Dispatcher
}
type Upload = ReportDelivery & Way

/**
 * Path-style URLs, which every S3-compatible storage supports. Storage needs the length in advance,
 * so a file is collected in memory; on disk, a killed process would leave it behind.
 */
const intoBucket =
  (bucket: string, delivery: Upload): TakeFile =>
  async (name, read) =>
    upload(delivery, `${bucket}/${name}`, await bytes(read()))

async function upload(delivery: Upload, key: string, body: Uint8Array<ArrayBuffer>) {
  const region = delivery.region ?? DEFAULT_REGION
  const url = new URL(delivery.endpoint ?? `https://s3.${region}.amazonaws.com`)
  const client = new AwsClient({
    accessKeyId: delivery.access_key ?? '',
    secretAccessKey: delivery.secret_key ?? '',
    service: 's3',
    region,
  })
  const path = key.split('/').map(encodeURIComponent).join('/')
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`
  const headers = {
    'content-type': delivery.is_gzip ? 'application/gzip' : 'text/csv; charset=utf-8',
  }
  const sign = () => client.sign(url.href, { method: 'PUT', body, headers })
  const signal = AbortSignal.timeout(delivery.uploadMs)
  const status = await send({ sign, body, signal, agent: delivery.agent })
  if (status < 200 || status > 299) throw new Error(`${path}: the storage answered ${status}`)
}

interface Put {
  readonly sign: () => Promise<Request>
  readonly body: Uint8Array
  readonly signal: AbortSignal
  readonly agent: Dispatcher
}

/** Sends a signed request, with retries if the storage is busy; returns the status. */
async function send({ sign, body, signal, agent }: Put): Promise<number> {
  for (let retries = 0; ; retries += 1) {
    const { url, headers } = await sign()
    const { origin, pathname, search } = new URL(url)
    // The signature is valid for one URL only, and a redirect's target is not the storage: none is
    // followed.
    const answer = await agent.request({
      ...{ origin, path: pathname + search, method: 'PUT', body, signal },
      headers: Object.fromEntries(headers),
    })
    // Not read: it has no information, and an endless one would fill the memory.
    answer.body.on('error', () => undefined).destroy()
    const isBusy = answer.statusCode === 429 || answer.statusCode >= 500
    if (!isBusy || retries === RETRIES_MAX) return answer.statusCode
    await sleep(RETRY_MS * 2 ** retries)
  }
}
