/**
 * Remembers the destinations of the last million links across restarts (I5), to redirect readers
 * while the database is down and this node does not hold the link.
 *
 * A journal of lines beside the spool: new lines are appended once a minute, and the file is
 * rewritten when most lines are outdated. Losing the last minute in a crash loses no money, so
 * nothing is fsynced. A line that was cut off is no URL and is skipped.
 */
import { createReadStream } from 'node:fs'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import { CoalescedTask } from '../platform/concurrency/coalesced-task.ts'
import { replaceFile } from '../platform/files/atomic-file.ts'
import { heapShare } from '../platform/process/heap-share.ts'

/**
 * I5 promises the last million destinations; at usual lengths they take this much. Anybody can have
 * links created with the longest URLs, and a million of those would fill the heap at each start.
 */
export const ADDRESSES = { part: 1 / 4, bytesMax: 256 * 1024 * 1024 }
/** Bytes per entry besides the URL: its id, and its places in the map and the order. Measured. */
export const ENTRY_BYTES = 140
const SAVE_MS = 60_000
/** Lines per write: about 20 MB of text in memory while the file is rewritten. */
const CHUNK_LINES = 100_000
/** Written before each append: a cut-off line then has a second tab and is recognized. */
const CUT = '\t\n'

export class Destinations {
  readonly #path: string
  readonly #onError: (error: unknown) => void
  readonly #urls: LRUCache<string, string>
  #fresh = new Set<string>() // Entries that are not in the file yet.
  #linesInFile = 0
  #timer: NodeJS.Timeout | null = null
  readonly #saves = new CoalescedTask(() => this.#save())

  constructor(path: string, onError: (error: unknown) => void, bytesMax = heapShare(ADDRESSES)) {
    this.#path = path
    this.#onError = onError
    // A limit by entries would allocate memory for all of them at once.
    this.#urls = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: (url) => url.length + ENTRY_BYTES,
      dispose: (_url, auctionId) => this.#fresh.delete(auctionId),
    })
  }

  /** Reads an earlier process's journal, then saves once a minute. */
  async open(): Promise<void> {
    try {
      let rest = ''
      for await (const chunk of createReadStream(this.#path, 'utf8')) {
        const lines = `${rest}${chunk}`.split('\n')
        rest = lines.pop() ?? '' // The last line may be incomplete.
        for (const line of lines) this.#read(line)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#onError(error)
    }
    this.#timer = setInterval(() => void this.#saves.ask(), SAVE_MS)
  }

  #read(line: string): void {
    const [auctionId = '', url = '', ...more] = line.split('\t')
    if (url !== '' && more.length === 0) this.#urls.set(auctionId, url)
    this.#linesInFile += 1
  }

  get(auctionId: string): string | null {
    return this.#urls.get(auctionId) ?? null
  }

  /** Records that a link was served or created. */
  note(auctionId: string, url: string): void {
    if (this.#urls.get(auctionId) === url) return
    this.#urls.set(auctionId, url)
    this.#fresh.add(auctionId)
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#saves.ask()
  }

  async #save(): Promise<void> {
    if (this.#fresh.size === 0) return
    const fresh = this.#fresh
    this.#fresh = new Set()
    try {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
      if (this.#linesInFile + fresh.size > 2 * this.#urls.size) await this.#rewrite()
      else {
        await appendFile(this.#path, CUT + this.#linesOf(fresh))
        this.#linesInFile += fresh.size + 1
      }
    } catch (error) {
      for (const auctionId of fresh) if (this.#urls.has(auctionId)) this.#fresh.add(auctionId)
      this.#onError(error)
    }
  }

  async #rewrite(): Promise<void> {
    // In this order the newest entries are read last and dropped last.
    const all = [...this.#urls.rkeys()]
    await replaceFile(this.#path, async (draft) => {
      await writeFile(draft, '', { mode: 0o600 })
      for (let at = 0; at < all.length; at += CHUNK_LINES) {
        await appendFile(draft, this.#linesOf(all.slice(at, at + CHUNK_LINES)))
      }
    })
    this.#linesInFile = all.length
  }

  #linesOf(auctionIds: Iterable<string>): string {
    let text = ''
    for (const auctionId of auctionIds) {
      const url = this.#urls.peek(auctionId) ?? ''
      // A URL as browsers read it has neither; one that contains them is not worth storing.
      if (url !== '' && !/[\t\n\r]/.test(url)) text += `${auctionId}\t${url}\n`
    }
    return text
  }
}
