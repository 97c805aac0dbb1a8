/**
 * Durable local storage for records whose real store is down.
 *
 * Every process writes into its own directory and locks it while it lives. The next process that
 * opens the same root adopts and drains the directory of a dead one. A crash between draining and
 * deleting drains records twice, so the store must recognize them by an id. Records are never lost,
 * and never drained before they are on disk.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GroupCommit, QueueFull } from '../concurrency/group-commit.ts'
import { replaceFile } from '../files/atomic-file.ts'
import { type FileLock, takeFileLock } from '../files/file-lock.ts'
import { makeFolder } from '../files/make-folder.ts'
import { frameBytes, type Unframed } from './spool-frames.ts'
import { type Segment, SpoolSegments, syncDirectory } from './spool-segments.ts'

/** The records of one fsync, and of one call to `write`. */
const BATCH_RECORDS_MAX = 500
/** With more records waiting for the disk, callers are refused. */
const QUEUED_RECORDS_MAX = 20_000
/** Directories are created and adopted under one lock of the root, held for milliseconds. */
const ROOT_LOCK_WAIT_MS = 2_000
/** A process id, for people, and a UUID. Nothing else below the root belongs to Souk. */
const DIRECTORY_NAME = /^\d+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LOCK = 'lock'
const OWNER = 'owner'
/** Where damaged files and refused records stay for a person; never drained. */
const ASIDE = 'aside'

/** The spool is full: the record was not accepted. */
export class SpoolFull extends Error {
  override name = 'SpoolFull'
}

export interface SpoolOptions {
  readonly root: string
  /** Limit for everything this process is responsible for, including adopted directories. */
  readonly bytesMax: number
  /** Whether a dead process's records belong to this process's store. */
  readonly isOurs?: (owner: string) => boolean
  /** Receives reports about damaged or unreadable files. */
  readonly onDamage: (problem: string) => void
}

export interface DrainOptions {
  /** Writes records to their store. If it rejects, the store is down and the records stay. */
  readonly write: (records: readonly Buffer[]) => Promise<void>
  /**
   * Called when a dead process's directory is drained; `owner` is that process's record of itself.
   */
  readonly onDrained?: (owner: string) => Promise<void>
}

interface Directory {
  readonly path: string
  readonly lock: FileLock
  readonly segments: SpoolSegments
  readonly drained: Map<string, number> // Records per file that are already in the store.
}

/** Opens this process's spool below `root` and adopts the directories of dead processes. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const spool = new Spool(options, await makeDirectory(options.root))
  await spool.adoptAbandoned()
  return spool
}

export class Spool {
  readonly #options: SpoolOptions
  #own: Directory
  #owner: string | null = null
  #making: Promise<void> | null = null
  readonly #adopted: Directory[] = []
  #hasForeign = false
  #queuedBytes = 0

  readonly #commits = new GroupCommit<Uint8Array>({
    writers: [(records) => this.#write(records)],
    maxBatchItems: BATCH_RECORDS_MAX,
    maxQueuedItems: QUEUED_RECORDS_MAX,
  })

  constructor(options: SpoolOptions, own: Directory) {
    this.#options = { ...options, onDamage: withoutRepeats(options.onDamage) }
    this.#own = own
  }

  /** Resolves when the records are on disk; rejects with SpoolFull or the disk's error. */
  async append(records: readonly Uint8Array[]): Promise<void> {
    const bytes = records.reduce((sum, record) => sum + frameBytes(record), 0)
    if (this.bytes() + bytes > this.#options.bytesMax) {
      throw new SpoolFull(`the spool holds ${this.bytes()} bytes of ${this.#options.bytesMax}`)
    }
    this.#queuedBytes += bytes
    try {
      await this.#commits.add(records)
    } catch (error) {
      throw error instanceof QueueFull ? new SpoolFull(error.message) : error
    } finally {
      this.#queuedBytes -= bytes
    }
  }

  /** Bytes that are not yet known to be in the store. */
  bytes(): number {
    const adopted = this.#adopted.reduce((sum, { segments }) => sum + segments.bytes(), 0)
    return this.#queuedBytes + this.#own.segments.bytes() + adopted
  }

  /** Whether nothing that this process appended waits to be drained. */
  isEmpty(): boolean {
    return this.#queuedBytes + this.#own.segments.bytes() === 0
  }

  /** Whether there is anything to drain, from this process or a dead one. */
  hasWork(): boolean {
    // A failed write may leave a file without records.
    return this.#adopted.length > 0 || !this.isEmpty() || this.#own.segments.sealed().length > 0
  }

  /** Records the owner beside the records, for the process that drains them later. */
  async recordOwner(owner: string): Promise<void> {
    this.#owner = owner
    await writeOwner(this.#own, owner)
  }

  /** Whether records of another store were found; they are left where they are. */
  hasForeign(): boolean {
    return this.#hasForeign
  }

  /** Adopts the directories of dead processes, except those of another store. */
  async adoptAbandoned(): Promise<void> {
    const { root, onDamage, isOurs = () => true } = this.#options
    await this.#ensureOwn()
    const held = new Set([this.#own, ...this.#adopted].map(({ path }) => path))
    for (const directory of adoptDirectories(root, held, onDamage)) {
      try {
        await directory.segments.load()
        if (isOurs(ownerOf(directory))) this.#adopted.push(directory)
        else this.#leaveForeign(directory)
      } catch (error) {
        directory.lock.release()
        onDamage(`${directory.path} cannot be read: ${(error as Error).message}`)
      }
    }
  }

  /** Passes every record to `write`, oldest first. Must not be called concurrently. */
  async drain(options: DrainOptions): Promise<void> {
    for (const directory of [...this.#adopted]) {
      if (!existsSync(directory.path)) {
        this.#letGo(directory)
        continue
      }
      await this.#drainSealed(directory, options)
      // Unreadable, and already reported: it stays.
      if (directory.segments.sealed().length > 0) continue
      await this.#giveUp(directory, options)
    }
    // The newest file is sealed only once the older ones are gone: a store that stays down is tried
    // often and should not leave a file each time.
    await this.#drainSealed(this.#own, options)
    await this.#own.segments.seal()
    await this.#drainSealed(this.#own, options)
  }

  /** Keeps records that the store will never accept for a person to find. */
  async setAside(records: readonly Uint8Array[]): Promise<void> {
    const path = join(this.#options.root, ASIDE, `refused-${randomUUID()}`)
    await mkdir(path, { recursive: true, mode: 0o700 })
    const segments = new SpoolSegments(path)
    try {
      await segments.write(records)
    } catch (error) {
      await rm(path, { recursive: true, force: true })
      throw error
    }
    await segments.seal()
  }

  /** Finishes pending appends. Undrained records stay for the next process. */
  async close(): Promise<void> {
    await this.#commits.close()
    await this.#own.segments.seal()
    for (const { lock } of this.#adopted) lock.release()
    if (this.#own.segments.bytes() === 0) discard(this.#options.root, this.#own)
    else this.#own.lock.release()
  }

  async #write(records: readonly Uint8Array[]): Promise<void> {
    await this.#ensureOwn()
    await this.#own.segments.write(records)
  }

  /** Nobody would find a record in a deleted directory, so another one is created. */
  async #ensureOwn(): Promise<void> {
    if (existsSync(this.#own.path)) return
    this.#making ??= this.#makeOwn().finally(() => {
      this.#making = null
    })
    await this.#making
  }

  async #makeOwn(): Promise<void> {
    const { root, onDamage } = this.#options
    const { path, lock, segments } = this.#own
    const made = await makeDirectory(root)
    try {
      if (this.#owner !== null) await writeOwner(made, this.#owner)
    } catch (error) {
      discard(root, made)
      throw error
    }
    this.#own = made
    lock.release()
    await segments.seal()
    onDamage(`${path} was deleted, with ${segments.bytes()} bytes: ${made.path} is in its place`)
  }

  /** A deleted adopted directory cannot be drained any more. */
  #letGo(directory: Directory): void {
    const { path, lock, segments } = directory
    lock.release()
    this.#adopted.splice(this.#adopted.indexOf(directory), 1)
    this.#options.onDamage(`${path} was deleted, with ${segments.bytes()} bytes`)
  }

  /** Even an empty one: its own store must learn that its process died. */
  #leaveForeign({ path, lock, segments }: Directory): void {
    lock.release()
    if (segments.bytes() === 0) return
    this.#hasForeign = true
    this.#options.onDamage(`${path} holds events of another database: they stay there`)
  }

  /** Its records are safe, so an error now must not keep others from being drained. */
  async #giveUp(directory: Directory, { onDrained }: DrainOptions): Promise<void> {
    try {
      await onDrained?.(ownerOf(directory))
      discard(this.#options.root, directory)
      this.#adopted.splice(this.#adopted.indexOf(directory), 1)
    } catch (error) {
      const { path } = directory
      this.#options.onDamage(`${path} is drained and still kept: ${(error as Error).message}`)
    }
  }

  async #drainSealed(directory: Directory, options: DrainOptions): Promise<void> {
    for (const segment of directory.segments.sealed()) {
      const file = await this.#read(directory, segment)
      if (file === null) continue
      await drainRecords(directory, segment, file.records, options)
      if (file.damagedBytes === 0) await directory.segments.remove(segment)
      else await this.#setDamagedAside(directory, segment, file.damagedBytes)
      directory.drained.delete(segment.path) // Not earlier: a disk that deletes nothing is retried.
    }
  }

  /** Null if the file cannot be read now, or was deleted. */
  async #read({ path, segments }: Directory, segment: Segment): Promise<Unframed | null> {
    try {
      return await segments.read(segment)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const isGone = code === 'ENOENT' && existsSync(path)
      if (isGone) segments.forget(segment)
      const problem = isGone
        ? `was deleted, with ${segment.bytes} bytes`
        : `cannot be read: ${message}`
      this.#options.onDamage(`${segment.path} ${problem}`)
      return null
    }
  }

  async #setDamagedAside(
    directory: Directory,
    segment: Segment,
    damagedBytes: number,
  ): Promise<void> {
    const name = `damaged-${basename(directory.path)}-${basename(segment.path)}`
    const kept = join(this.#options.root, ASIDE, name)
    await directory.segments.moveTo(segment, kept)
    this.#options.onDamage(
      `${damagedBytes} bytes of a spool file were no whole record and were left out; ` +
        `every whole one was drained; the file was moved to ${kept}`,
    )
  }
}

async function drainRecords(
  { drained }: Directory,
  { path }: Segment,
  records: readonly Buffer[],
  { write }: DrainOptions,
): Promise<void> {
  let done = drained.get(path) ?? 0
  while (done < records.length) {
    const batch = records.slice(done, done + BATCH_RECORDS_MAX)
    await write(batch)
    done += batch.length
    drained.set(path, done)
  }
}

/** Draining is tried several times a second, so each problem of a file is reported only once. */
function withoutRepeats(report: (problem: string) => void): (problem: string) => void {
  const reported = new Set<string>()
  return (problem) => {
    if (reported.has(problem)) return
    reported.add(problem)
    report(problem)
  }
}

async function makeDirectory(root: string): Promise<Directory> {
  await makeFolder(root, { mode: 0o700 })
  const made = createDirectory(root)
  // New names are durable only once their parent directories are on disk.
  for (const directory of [root, dirname(root)]) await syncDirectory(directory)
  return made
}

function createDirectory(root: string): Directory {
  return withRootLock(root, () => {
    const path = join(root, `${process.pid}-${randomUUID()}`)
    mkdirSync(path, { mode: 0o700 })
    const lock = takeFileLock(join(path, LOCK))
    if (lock === null) throw new Error(`${path} was locked by another process as it was created`)
    return { path, lock, segments: new SpoolSegments(path), drained: new Map() }
  })
}

/** Every directory whose lock is free: its process is dead. */
function adoptDirectories(
  root: string,
  held: ReadonlySet<string>,
  onDamage: SpoolOptions['onDamage'],
): Directory[] {
  return withRootLock(root, () =>
    readdirSync(root).flatMap((name) => {
      const path = join(root, name)
      if (!DIRECTORY_NAME.test(name) || held.has(path)) return []
      try {
        const lock = takeFileLock(join(path, LOCK))
        const segments = new SpoolSegments(path)
        return lock === null ? [] : [{ path, lock, segments, drained: new Map() }]
      } catch (error) {
        onDamage((error as Error).message)
        return []
      }
    }),
  )
}

function withRootLock<T>(root: string, work: () => T): T {
  const lock = takeFileLock(join(root, LOCK), { waitMs: ROOT_LOCK_WAIT_MS })
  if (lock === null) throw new Error(`another process keeps ${join(root, LOCK)}`)
  try {
    return work()
  } finally {
    lock.release()
  }
}

async function writeOwner({ path }: Directory, owner: string): Promise<void> {
  const write = (draft: string) => writeFile(draft, owner, { mode: 0o600, flush: true })
  await replaceFile(join(path, OWNER), write)
  await syncDirectory(path)
}

function ownerOf({ path }: Directory): string {
  try {
    return readFileSync(join(path, OWNER), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return '' // It died before it had recorded an owner.
  }
}

/** Removes an empty directory, under the root's lock so that nobody adopts it meanwhile. */
function discard(root: string, { path, lock }: Directory): void {
  withRootLock(root, () => {
    lock.release() // First, because Windows cannot delete an open file.
    rmSync(path, { recursive: true, force: true })
  })
}
