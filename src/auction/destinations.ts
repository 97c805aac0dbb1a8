/**
 * Where each link of the last million led, remembered across restarts (I5): enough to send a
 * reader on while the database is away and this node does not hold the link.
 *
 * A journal of lines beside the spool: what is new is appended once a minute, and the file is
 * written anew when most of its lines are out of date. Losing the last minute in a crash loses no
 * money, only a little of this safety net; so nothing here is fsynced. A line that a crash or a
 * full disk cut short is no address: it would lead readers to a page that is none.
 */
import { createReadStream } from 'node:fs'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import { Rounds } from '../platform/rounds.ts'
import { replaceFile } from '../platform/whole-file.ts'

/** Architecture I5 promises the last million. */
const DESTINATIONS_MAX = 1_000_000
/**
 * Of a million addresses as shops have them about half. Anybody can have links made of the longest
 * there may be: a million of those would fill the heap, and again at each start.
 */
const CHARACTERS_MAX = 256 * 1024 * 1024
/**
 * Less in a small heap, where with all that stands around it each takes about twice its characters:
 * 256 MB, as on a machine of 1 GB, were full with less than a million as shops have them.
 */
const HEAP_PART = 8
const SAVE_MS = 60_000
/** Lines written at once: some 20 MB of text in memory while the file is written anew. */
const CHUNK_LINES = 100_000
/** Before each addition: what the last one may have left of a line has a second tab then. */
const CUT = '\t\n'

export class Destinations {
  readonly #path: string
  readonly #onError: (error: unknown) => void
  // The one that came first goes first; one that is served again after that comes back as new.
  readonly #urls = new Map<string, string>()
  /** Goes on where it was: a new one would step over the places of all that are gone, each time. */
  #oldest: MapIterator<string> | null = null
  readonly #charactersMax: number
  #characters = 0
  #fresh = new Set<string>() // of these what is not yet in the file
  #linesInFile = 0
  #timer: NodeJS.Timeout | null = null
  readonly #saves = new Rounds(() => this.#save())

  constructor(
    path: string,
    onError: (error: unknown) => void,
    charactersMax = destinationCharacters(getHeapStatistics().heap_size_limit),
  ) {
    this.#path = path
    this.#onError = onError
    this.#charactersMax = charactersMax
  }

  /** Reads what an earlier process remembered, then saves once a minute. */
  async open(): Promise<void> {
    try {
      let rest = ''
      for await (const chunk of createReadStream(this.#path, 'utf8')) {
        const lines = `${rest}${chunk}`.split('\n')
        rest = lines.pop() ?? '' // at the end what has no end
        for (const line of lines) this.#read(line)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#onError(error)
    }
    this.#timer = setInterval(() => void this.#saves.ask(), SAVE_MS)
  }

  #read(line: string): void {
    const [auctionId = '', url = '', ...more] = line.split('\t')
    if (url !== '' && more.length === 0) this.#keep(auctionId, url)
    this.#linesInFile += 1
  }

  get(auctionId: string): string | null {
    return this.#urls.get(auctionId) ?? null
  }

  /** Notes that a link was served or seen created. */
  note(auctionId: string, url: string): void {
    if (this.#urls.get(auctionId) === url) return
    this.#keep(auctionId, url)
    this.#fresh.add(auctionId)
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#saves.ask()
  }

  #keep(auctionId: string, url: string): void {
    this.#forget(auctionId)
    this.#urls.set(auctionId, url)
    this.#characters += url.length
    while (this.#urls.size > DESTINATIONS_MAX || this.#characters > this.#charactersMax) {
      this.#forgetOldest()
    }
  }

  #forgetOldest(): void {
    this.#oldest ??= this.#urls.keys()
    const { value, done } = this.#oldest.next()
    if (done === true) this.#oldest = null
    else this.#forget(value)
  }

  #forget(auctionId: string): void {
    this.#characters -= this.#urls.get(auctionId)?.length ?? 0
    this.#urls.delete(auctionId)
    this.#fresh.delete(auctionId)
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
    const all = [...this.#urls.keys()]
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
      const url = this.#urls.get(auctionId) ?? ''
      // A URL as browsers read it has neither; one that holds them raw is not worth keeping.
      if (url !== '' && !/[\t\n\r]/.test(url)) text += `${auctionId}\t${url}\n`
    }
    return text
  }
}

/** How many characters of addresses a process of this heap remembers. */
export function destinationCharacters(heapBytes: number): number {
  return Math.min(CHARACTERS_MAX, Math.floor(heapBytes / HEAP_PART))
}
