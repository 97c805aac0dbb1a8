/**
 * Runs an import and stores what everybody may see of it: progress, result, rejected rows.
 *
 * Commands, schedules and the API all import through here, so a merchant's list shows every import.
 */
import { startPoller } from '../../platform/concurrency/poller.ts'
import type { Database, Db } from '../../platform/postgres/postgres.ts'
import { cutText } from '../../platform/text/characters.ts'
import type { FoundColumn } from './feed-columns.ts'
import { FeedError } from './feed-error.ts'
import {
  endRun,
  insertRejects,
  insertRun,
  REJECTS_STORED_MAX,
  type RunProgress,
  type RunState,
  type StoredReject,
  updateRun,
} from './feed-run-store.ts'
import { type ImportOptions, importFeed, type RejectedRow } from './import-feed.ts'
import { hasGoodRow, type ImportResult, noGoodRow } from './import-result.ts'
import { REJECT_WORDS } from './reject-words.ts'

const ALIVE_MS = 2_000 // Progress that people watch.
/** Long enough to recognize a value; a description may have thousands. */
const VALUE_CHARACTERS_MAX = 200
const REJECTS_AT_ONCE = 500

const OUR_FAULT = 'Something failed on our side; nothing was changed'

/** Begins an import; throws FeedError while another one of this merchant runs. */
export async function beginRun(db: Db, run: Parameters<typeof insertRun>[1]): Promise<string> {
  const importId = await insertRun(db, run)
  if (importId !== null) return importId
  throw new FeedError(`a feed of merchant ${run.merch_id} is being imported; try again later`)
}

/** A running import: reports its progress, and stores how it ends. */
export class RecordedRun {
  readonly #db: Database
  readonly #importId: string
  readonly #life: NodeJS.Timeout
  #state: RunState = 'fetching'
  #progress: RunProgress = { rows: 0, bytes: 0, totalBytes: null }
  #rejects: StoredReject[] = []
  #rejected = 0
  #columns: readonly FoundColumn[] | null = null

  constructor(db: Database, importId: string, state: RunState = 'fetching') {
    this.#db = db
    this.#importId = importId
    this.#state = state
    this.#life = startPoller(() => this.#saveProgress(), {
      everyMs: ALIVE_MS,
      onError: () => undefined,
    })
  }

  /** What the run does from now on, and how far it is. */
  progress(state: RunState, progress: RunProgress): void {
    this.#state = state
    this.#progress = progress
  }

  /** From here on another process or thread says that the run goes on. */
  handOver(): void {
    clearInterval(this.#life)
  }

  /** Stores that the whole file is there, and hands over. */
  async received(): Promise<void> {
    this.handOver()
    this.#state = 'waiting'
    await this.#saveProgress()
  }

  fail(message: string): Promise<void> {
    return this.#end(null, message)
  }

  /** Runs the work and stores its end. An error is stored, and thrown again. */
  async during(work: () => Promise<ImportResult>): Promise<ImportResult> {
    try {
      const result = await work()
      await this.#end(result, hasGoodRow(result) ? null : noGoodRow(result))
      return result
    } catch (error) {
      const message = error instanceof FeedError ? error.message : OUR_FAULT
      // The first error is what matters; a run without an end counts as stopped.
      await this.#end(null, message).catch(() => undefined)
      throw error
    }
  }

  async import(options: ImportOptions): Promise<ImportResult> {
    return importFeed(this.#db, {
      ...options,
      onProgress: (progress) => {
        this.progress('importing', progress)
        options.onProgress?.(progress)
      },
      onColumns: (columns) => {
        this.#columns = columns
        options.onColumns?.(columns)
      },
      onRejects: async (rows) => {
        await this.#keep(rows)
        await options.onRejects?.(rows)
      },
    })
  }

  async #keep(rows: readonly RejectedRow[]): Promise<void> {
    for (const row of rows) {
      this.#rejected += 1
      if (this.#rejected > REJECTS_STORED_MAX) continue
      this.#rejects.push(toStored(row, this.#rejected))
    }
    if (this.#rejects.length >= REJECTS_AT_ONCE) await this.#flush()
  }

  async #flush(): Promise<void> {
    const rejects = this.#rejects
    this.#rejects = []
    await insertRejects(this.#db, this.#importId, rejects)
  }

  async #saveProgress(): Promise<void> {
    const [importId, state, progress] = [this.#importId, this.#state, this.#progress]
    await updateRun(this.#db, { importId, state, progress })
  }

  async #end(result: ImportResult | null, error: string | null): Promise<void> {
    clearInterval(this.#life)
    await this.#flush()
    await this.#saveProgress()
    const rejectsStored = Math.min(this.#rejected, REJECTS_STORED_MAX)
    const [importId, columns] = [this.#importId, this.#columns]
    await endRun(this.#db, { importId, result, error, rejectsStored, columns })
  }
}

function toStored({ line, reason, detail, row }: RejectedRow, id: number): StoredReject {
  const { field } = REJECT_WORDS[reason]
  const value = typeof row === 'string' ? row : field === null ? '' : row[field]
  const text = (written: string) => cutText(written.replaceAll('\0', ' '), VALUE_CHARACTERS_MAX)
  return {
    reject_id: id,
    line,
    sku: typeof row === 'string' ? null : text(row.id),
    field,
    value: text(value),
    reason,
    detail: detail.replaceAll('\0', ' '),
  }
}
