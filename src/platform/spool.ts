/**
 * A durable place on the local disk for records whose real store is away.
 *
 * Every process writes into a directory of its own, which it locks while it lives. What a dead
 * process left behind is adopted by whoever opens the same root next, and drained like its own.
 * Records may be drained twice (a crash between draining and deleting): the store must know
 * them by an id of theirs. They are never lost, and never drained before they are on disk.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type FileLock, takeFileLock } from './file-lock.ts'
import { GroupCommit, QueueFull } from './group-commit.ts'
import { makeFolder } from './make-folder.ts'
import { frameBytes, type Unframed } from './spool-frames.ts'
import { type Segment, SpoolSegments, syncDirectory } from './spool-segments.ts'
import { replaceFile } from './whole-file.ts'

/** What one fsync carries, and what a drainer hands on at once. */
const BATCH_RECORDS_MAX = 500
/** Beyond this many waiting for the disk, callers are better refused. */
const QUEUED_RECORDS_MAX = 20_000
/** Directories are made and adopted under one lock of the root, held for milliseconds. */
const ROOT_LOCK_WAIT_MS = 2_000
/** Process id, for people, and a UUID. Nothing else below the root is ours to touch. */
const DIRECTORY_NAME = /^\d+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const LOCK = 'lock'
const OWNER = 'owner'
/** Where damaged files and refused records are kept for a person; never drained. */
const ASIDE = 'aside'

/** The spool holds as much as it may: the record was not taken. */
export class SpoolFull extends Error {
  override name = 'SpoolFull'
}

export interface SpoolOptions {
  readonly root: string
  /** Bound of everything this process answers for, adopted directories included. */
  readonly bytesMax: number
  /** Whether what a dead process had recorded is of the store that this one drains into. */
  readonly isOurs?: (owner: string) => boolean
  /** Told about damaged or unreadable files, in words. */
  readonly onDamage: (problem: string) => void
}

export interface DrainOptions {
  /** Writes records to their store; rejects when it is away, and they stay. */
  readonly write: (records: readonly Buffer[]) => Promise<void>
  /** A dead process's directory is drained; `owner` is what that process had recorded. */
  readonly onDrained?: (owner: string) => Promise<void>
}

interface Directory {
  readonly path: string
  readonly lock: FileLock
  readonly segments: SpoolSegments
  readonly drained: Map<string, number> // records of a file that are already in the store
}

/** Opens the spool of this process below `root` and adopts what dead processes left there. */
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
    this.#options = { ...options, onDamage: toldOnce(options.onDamage) }
    this.#own = own
  }

  /** Resolves when the records are on disk; rejects with SpoolFull or the error of the disk. */
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

  /** Bytes that are not known to be in the store yet. */
  bytes(): number {
    const adopted = this.#adopted.reduce((sum, { segments }) => sum + segments.bytes(), 0)
    return this.#queuedBytes + this.#own.segments.bytes() + adopted
  }

  /** Whether nothing that this process appended waits to be drained. */
  isEmpty(): boolean {
    return this.#queuedBytes + this.#own.segments.bytes() === 0
  }

  /** Whether there is anything to drain, of this process or of a dead one. */
  hasWork(): boolean {
    // A write that failed may leave a file without a record.
    return this.#adopted.length > 0 || !this.isEmpty() || this.#own.segments.sealed().length > 0
  }

  /** Writes beside the records whose they are, for whoever drains them after this process. */
  async recordOwner(owner: string): Promise<void> {
    this.#owner = owner
    await writeOwner(this.#own, owner)
  }

  /** Whether records of another store were found, which are left where they are. */
  hasForeign(): boolean {
    return this.#hasForeign
  }

  /** Takes over the directories of processes that are gone, but for those of another store. */
  async adoptAbandoned(): Promise<void> {
    const { root, onDamage, isOurs = () => true } = this.#options
    await this.#keepOwn()
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

  /** Hands every record that is there to `write`, oldest first. Not to be called in parallel. */
  async drain(options: DrainOptions): Promise<void> {
    for (const directory of [...this.#adopted]) {
      if (!existsSync(directory.path)) {
        this.#letGo(directory)
        continue
      }
      await this.#drainSealed(directory, options)
      if (directory.segments.sealed().length > 0) continue // unreadable: it stays, and is known
      await this.#giveUp(directory, options)
    }
    // The newest file only once the older ones are gone: a store that stays away is tried often,
    // and should not leave a file each time.
    await this.#drainSealed(this.#own, options)
    await this.#own.segments.seal()
    await this.#drainSealed(this.#own, options)
  }

  /** Keeps records that the store will never take where a person finds them. */
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

  /** Finishes what was appended. What is not drained stays for the next process. */
  async close(): Promise<void> {
    await this.#commits.close()
    await this.#own.segments.seal()
    for (const { lock } of this.#adopted) lock.release()
    if (this.#own.segments.bytes() === 0) discard(this.#options.root, this.#own)
    else this.#own.lock.release()
  }

  async #write(records: readonly Uint8Array[]): Promise<void> {
    await this.#keepOwn()
    await this.#own.segments.write(records)
  }

  /** In a directory that somebody has deleted nobody would find a record: another is made. */
  async #keepOwn(): Promise<void> {
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

  /** Of an adopted directory that somebody has deleted nothing can be drained any more. */
  #letGo(directory: Directory): void {
    const { path, lock, segments } = directory
    lock.release()
    this.#adopted.splice(this.#adopted.indexOf(directory), 1)
    this.#options.onDamage(`${path} was deleted, with ${segments.bytes()} bytes`)
  }

  /** An empty one too: that its process is dead is news for its own store. */
  #leaveForeign({ path, lock, segments }: Directory): void {
    lock.release()
    if (segments.bytes() === 0) return
    this.#hasForeign = true
    this.#options.onDamage(`${path} holds events of another database: they stay there`)
  }

  /** Its records are safe: what goes wrong now must keep nobody else's from being drained. */
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
      else await this.#keepDamaged(directory, segment, file.damagedBytes)
      directory.drained.delete(segment.path) // Not before: a disk that deletes nothing is tried on.
    }
  }

  /** Null: it cannot be read now, and stays; or somebody has deleted it, and nobody ever will. */
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

  async #keepDamaged(directory: Directory, segment: Segment, damagedBytes: number): Promise<void> {
    const name = `damaged-${basename(directory.path)}-${basename(segment.path)}`
    const kept = join(this.#options.root, ASIDE, name)
    await directory.segments.moveTo(segment, kept)
    this.#options.onDamage(
      `${damagedBytes} bytes of a spool file were no whole record and were left out; ` +
        `every whole one was drained; the file is kept as ${kept}`,
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

/** A drain is tried several times a second: what ails a file is told the first time. */
function toldOnce(tell: (problem: string) => void): (problem: string) => void {
  const told = new Set<string>()
  return (problem) => {
    if (told.has(problem)) return
    told.add(problem)
    tell(problem)
  }
}

async function makeDirectory(root: string): Promise<Directory> {
  await makeFolder(root, { mode: 0o700 })
  const made = createDirectory(root)
  // New names are only safe once the directories that hold them are on disk.
  for (const directory of [root, dirname(root)]) await syncDirectory(directory)
  return made
}

function createDirectory(root: string): Directory {
  return withRootLock(root, () => {
    const path = join(root, `${process.pid}-${randomUUID()}`)
    mkdirSync(path, { mode: 0o700 })
    const lock = takeFileLock(join(path, LOCK))
    if (lock === null) throw new Error(`${path} was locked by somebody else as it was made`)
    return { path, lock, segments: new SpoolSegments(path), drained: new Map() }
  })
}

/** Every directory whose lock is free: its process is gone. */
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
    return '' // it died before it had recorded one
  }
}

/** Removes an empty directory, under the root's lock so that nobody adopts it meanwhile. */
function discard(root: string, { path, lock }: Directory): void {
  withRootLock(root, () => {
    lock.release() // first: Windows deletes no file that is open
    rmSync(path, { recursive: true, force: true })
  })
}
