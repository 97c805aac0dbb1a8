/**
 * The files of one spool directory: written by one process, whole file by whole file drained.
 *
 * Records go to the newest file; once it is sealed (grown up, or wanted by the drainer) nothing
 * is added to it again, so draining never meets writing. A file in which a write failed is
 * sealed too: after a failed fsync nobody knows what it holds (only what resolved is promised).
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

/** Small enough to read into memory at once, large enough that files stay few. */
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
  #turn: Promise<unknown> = Promise.resolve()

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
    return this.#inTurn(async () => {
      this.#active ??= await this.#create()
      const active = this.#active // from here on it is closed, whatever fails
      const buffer = frame(records)
      try {
        if (active.bytes === 0) await syncDirectory(this.#directory) // its name, just made
        await active.handle.appendFile(buffer)
        await active.handle.datasync()
        await stat(active.path) // Throws where somebody has deleted it: nobody would find them.
        active.bytes += buffer.length
        this.#bytes += buffer.length
      } catch (error) {
        // Cut what half arrived, as far as that still works: readers tolerate it either way.
        await active.handle.truncate(active.bytes).catch(() => undefined)
        if (active.bytes === 0) await this.#discard()
        else await this.#seal()
        throw error
      }
      if (active.bytes >= SEGMENT_BYTES_MAX) await this.#seal()
    })
  }

  /** The files that nothing is added to any more, oldest first. */
  sealed(): readonly Segment[] {
    return [...this.#sealed]
  }

  /** Closes the newest file, if there is one: the next record starts another. */
  seal(): Promise<void> {
    return this.#inTurn(() => this.#seal())
  }

  async read({ path }: Segment): Promise<Unframed> {
    return unframe(await readFile(path))
  }

  /** Deletes a drained file. Should a crash undo that, it is drained twice, which is harmless. */
  async remove(segment: Segment): Promise<void> {
    await unlink(segment.path)
    this.forget(segment)
  }

  /** Keeps a damaged file for a person to look at. */
  async moveTo(segment: Segment, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rename(segment.path, path)
    this.forget(segment)
  }

  /** No longer counts a file that is drained, moved, or gone. */
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

  /** A file that holds nothing anybody was promised: a full disk has no room for one a write. */
  async #discard(): Promise<void> {
    const active = this.#active
    if (active === null) return
    this.#active = null
    await active.handle.close().catch(() => undefined)
    // One that cannot be deleted either is drained like any other.
    await unlink(active.path).catch(() => this.#sealed.push({ path: active.path, bytes: 0 }))
  }

  async #seal(): Promise<void> {
    const active = this.#active
    if (active === null) return
    this.#active = null
    this.#sealed.push({ path: active.path, bytes: active.bytes })
    await active.handle.close().catch(() => undefined) // what was acknowledged is on disk already
  }

  /** One after the other: writing and sealing must not meet. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined)
    return result
  }
}

/** A new name in a directory is only safe once the directory is on disk too. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return // directories cannot be opened there
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
