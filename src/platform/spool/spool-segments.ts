/**
 * The files of one spool directory: one process writes them and drains them one whole file at a
 * time.
 *
 * Records go to the newest file. Once that is sealed (too large, or wanted by the drainer) nothing
 * is added to it, so draining never meets writing. A file in which a write failed is sealed too:
 * after a failed fsync its content is unknown, and only resolved writes are promised.
 */
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  unlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { frame, type Unframed, unframe } from './spool-frames.ts'

/** Small enough to read into memory at once, large enough that there are few files. */
const SEGMENT_BYTES_MAX = 8 * 1024 * 1024
const SUFFIX = '.spool'

export interface Segment {
  readonly path: string
  readonly bytes: number
}

export class SpoolSegments {
  readonly #directory: string
  readonly #sealed: Segment[] = []
  #active: { handle: FileHandle; path: string; bytes: number } | null = null
  #lastNumber = 0
  #bytes = 0
  #queue: Promise<unknown> = Promise.resolve()

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Finds the files that an earlier process left here. */
  async load(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith(SUFFIX)).sort()
    for (const name of names) {
      const path = join(this.#directory, name)
      const bytes = (await stat(path)).size
      this.#sealed.push({ path, bytes })
      this.#bytes += bytes
      this.#lastNumber = Number.parseInt(name, 10)
    }
  }

  /** Bytes of whole records in all files. */
  bytes(): number {
    return this.#bytes
  }

  /** Writes records and resolves when they are on disk. */
  write(records: readonly Uint8Array[]): Promise<void> {
    return this.#enqueue(async () => {
      this.#active ??= await this.#create()
      const active = this.#active // Closed from here on, whatever fails.
      const buffer = frame(records)
      try {
        if (active.bytes === 0) await syncDirectory(this.#directory) // Its name is new.
        await active.handle.appendFile(buffer)
        await active.handle.datasync()
        // Throws if somebody has deleted the file: nobody would find the records.
        await stat(active.path)
        active.bytes += buffer.length
        this.#bytes += buffer.length
      } catch (error) {
        // Cuts off a partial record if that still works; readers tolerate it either way.
        await active.handle.truncate(active.bytes).catch(() => undefined)
        if (active.bytes === 0) await this.#discard()
        else await this.#seal()
        throw error
      }
      if (active.bytes >= SEGMENT_BYTES_MAX) await this.#seal()
    })
  }

  /** The sealed files, oldest first. */
  sealed(): readonly Segment[] {
    return [...this.#sealed]
  }

  /** Seals the newest file, if there is one; the next record starts another. */
  seal(): Promise<void> {
    return this.#enqueue(() => this.#seal())
  }

  async read({ path }: Segment): Promise<Unframed> {
    return unframe(await readFile(path))
  }

  /**
   * Deletes a drained file. If a crash undoes this, the file is drained twice, which is harmless.
   */
  async remove(segment: Segment): Promise<void> {
    await unlink(segment.path)
    this.forget(segment)
  }

  /** Moves a damaged file aside for a person to inspect. */
  async moveTo(segment: Segment, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rename(segment.path, path)
    this.forget(segment)
  }

  /** Stops counting a file that was drained, moved or deleted. */
  forget(segment: Segment): void {
    const index = this.#sealed.findIndex(({ path }) => path === segment.path)
    if (index === -1) return
    this.#sealed.splice(index, 1)
    this.#bytes -= segment.bytes
  }

  async #create(): Promise<{ handle: FileHandle; path: string; bytes: number }> {
    this.#lastNumber += 1
    const path = join(this.#directory, `${String(this.#lastNumber).padStart(8, '0')}${SUFFIX}`)
    return { handle: await open(path, 'ax', 0o600), path, bytes: 0 }
  }

  /** A file without acknowledged records: a full disk has no room for one per write. */
  async #discard(): Promise<void> {
    const active = this.#active
    if (active === null) return
    this.#active = null
    await active.handle.close().catch(() => undefined)
    // A file that cannot be deleted is drained like any other.
    await unlink(active.path).catch(() => this.#sealed.push({ path: active.path, bytes: 0 }))
  }

  async #seal(): Promise<void> {
    const active = this.#active
    if (active === null) return
    this.#active = null
    this.#sealed.push({ path: active.path, bytes: active.bytes })
    await active.handle.close().catch(() => undefined) // Acknowledged records are on disk already.
  }

  /** Sequential, because writing and sealing must not overlap. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }
}

/** A new file name is durable only once its directory is on disk. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // Windows cannot open directories.
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
