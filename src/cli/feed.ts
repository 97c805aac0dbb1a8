/** `souk feed import`: a merchant's feed into the catalogue, with progress and its rejects. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { perform } from '../accounts/operation.ts'
import {
  beginCommandImport,
  saveImportedSource,
} from '../catalog/feeds/command-import-operations.ts'
import { type FeedFile, openFeedFile } from '../catalog/feeds/feed-file.ts'
import type { FeedFormat } from '../catalog/feeds/feed-format.ts'
import {
  type FeedOptions,
  readFeedMap,
  requireCurrency,
  requireElement,
} from '../catalog/feeds/feed-options.ts'
import { fetchFeed, isWebAddress, requireFetchable } from '../catalog/feeds/fetch-feed.ts'
import type { ImportProgress, RejectedRow } from '../catalog/feeds/import-feed.ts'
import { hasGoodRow } from '../catalog/feeds/import-result.ts'
import { RecordedRun } from '../catalog/feeds/record-import.ts'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { feedPriceRates } from '../orders/feed-rates.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'
import { openRejects } from './rejects-file.ts'

const PROGRESS_MS = 1_000

interface FeedImportOptions {
  readonly merchant: number
  readonly file: string
  readonly format?: FeedFormat
  readonly rejects?: string
  readonly map?: string
  readonly currency?: string
  readonly element?: string
}

export async function importFeedCommand(context: CommandContext, options: FeedImportOptions) {
  const started = performance.now()
  const { merchant: merchId } = options
  const said = await readOptions(options)
  requireFetchable(options.file)
  const db = await context.database()
  await requireMerchant(db, merchId) // before what may be gigabytes, and other rejects, are touched
  const allowPrivate = context.config.allowPrivateFetch
  const fetched = isWebAddress(options.file)
    ? await fetchFeed(options.file, { allowPrivate })
    : null
  try {
    const path = fetched?.path ?? options.file
    const file = await openFeedFile(path)
    await using rejects = await openRejects(options.rejects, {
      read: options.map === undefined ? [path] : [path, options.map],
    })
    const at = context.now()
    const url = fetched === null ? null : options.file
    const call = { ...asShell(context, db), params: { merch_id: merchId } }
    const [recorded] = await perform(beginCommandImport, { ...call, body: { url } })
    const run = new RecordedRun(db, recorded?.import_id ?? '', 'importing')
    const importing = {
      merchId,
      file,
      ...said,
      servedAs: fetched?.servedAs,
      at,
      toDollars: await feedPriceRates(db, utcDay(at)),
      seed: randomBytes(4).readUInt32BE(),
      onProgress: progressLine(context, file),
      onRejects: (rows: readonly RejectedRow[]) => rejects.add(rows),
    }
    const result = await run.during(() => run.import(importing))
    // A feed without a good row has changed nothing, and leaves the address of the good one.
    if (hasGoodRow(result)) {
      await perform(saveImportedSource, { ...call, now: at, body: { url, ...said } })
    }
    return { ...result, seconds: Math.round(performance.now() - started) / 1000 }
  } finally {
    await fetched?.remove()
  }
}

async function readOptions(options: FeedImportOptions): Promise<FeedOptions> {
  const { format = 'auto', map, currency, element } = options
  return {
    format,
    map: map === undefined ? null : readFeedMap(await readFile(map, 'utf8')),
    currency: currency === undefined ? null : requireCurrency('currency', currency),
    element: element === undefined ? null : requireElement(element),
  }
}

function progressLine(context: CommandContext, { totalBytes }: FeedFile) {
  const started = performance.now()
  let shownAt = started
  return ({ rows, bytes }: ImportProgress): void => {
    const now = performance.now()
    if (now - shownAt < PROGRESS_MS) return
    shownAt = now
    const seconds = (now - started) / 1000
    const share = totalBytes === 0 ? 0 : bytes / totalBytes
    const left = share === 0 ? '?' : Math.ceil((seconds * (1 - share)) / share)
    const speed = Math.round(rows / seconds).toLocaleString('en')
    const percent = Math.floor(share * 100)
    context.progress(`${percent} %  ${rows.toLocaleString('en')} rows  ${speed}/s  ${left} s left`)
  }
}
