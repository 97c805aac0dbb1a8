/**
 * Opens a feed file and unpacks it: plain, gzip or zip, detected by its first bytes.
 *
 * Unpacking is bounded by bytes and by ratio, so that it cannot fill a disk or a day (a feed packs
 * 5 to 40 times, a bomb 1,000). A truncated file gives its readable part and reports the cut.
 */

import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { crc32, createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { FeedError } from './feed-error.ts'

export interface FeedFile {
  /** The unpacked bytes. Throws FeedError for a damaged archive and for one over a limit. */
  bytes(): AsyncGenerator<Buffer>
  /** Bytes of the file itself, so that progress also works for packed feeds. */
  readonly totalBytes: number
  readonly readBytes: number
  /** True when the archive ended in the middle; known once the bytes have ended. */
  readonly isCut: boolean
}

interface UnpackLimits {
  readonly unpackedBytesMax: number
  readonly ratioMax: number
}

const LIMITS: UnpackLimits = {
  unpackedBytesMax: 32 * 2 ** 30, // 10,000,000 rows of 3 kB, twice what rows measure.
  ratioMax: 200,
}

/** Below this many unpacked bytes no ratio is harmful. */
const RATIO_FROM_BYTES = 16 * 2 ** 20

const READ_BYTES = 131_072 // Small enough that rows on their way to the database never wait long.
/** Small, because each piece may unpack to a thousand times its size before it is counted. */
const PACKED_PIECE_BYTES = 16_384

/** Opens the file; throws FeedError or the file system's error when it cannot be read. */
export async function openFeedFile(path: string, limits = LIMITS): Promise<FeedFile> {
  const found = await stat(path)
  if (!found.isFile()) throw new FeedError(`file: ${path} is not a file`)
  const { size } = found
  const progress: Progress = { readBytes: 0, isCut: false }
  const read = (start = 0, end = size) => readRange(path, { start, end }, progress)
  return {
    totalBytes: size,
    get readBytes() {
      return progress.readBytes
    },
    get isCut() {
      return progress.isCut
    },
    async *bytes() {
      switch (await packingOf(path)) {
        case 'plain':
          yield* read()
          return
        case 'gzip':
          yield* unpack(createGunzip(), read(), progress, limits)
          return
        case 'zip': {
          const entry = await findZipEntry(path, size)
          const packed = read(entry.start, entry.end)
          const bytes = entry.isDeflated
            ? unpack(createInflateRaw(), packed, progress, limits)
            : packed
          yield* checked(bytes, entry.crc32, progress)
        }
      }
    },
  }
}

interface Progress {
  readBytes: number
  isCut: boolean
}

async function packingOf(path: string): Promise<'plain' | 'gzip' | 'zip'> {
  const start = await readStart(path, 4)
  if (start[0] === 0x1f && start[1] === 0x8b) return 'gzip'
  const signature = start.readUInt32LE(0)
  return signature === LOCAL_HEADER || signature === EMPTY_ARCHIVE ? 'zip' : 'plain'
}

async function readStart(path: string, length: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const start = Buffer.alloc(length)
    await file.read(start, 0, length, 0)
    return start
  } finally {
    await file.close()
  }
}

/** The bytes from `start` up to before `end`. */
async function* readRange(
  path: string,
  { start, end }: { start: number; end: number },
  progress: Progress,
): AsyncGenerator<Buffer> {
  if (end <= start) return
  const options = { start, end: end - 1, highWaterMark: READ_BYTES }
  for await (const chunk of createReadStream(path, options) as AsyncIterable<Buffer>) {
    progress.readBytes = Math.min(progress.readBytes + chunk.length, end)
    yield chunk
  }
}

/**
 * Unpacks one write at a time and takes all its output before the next: so the data before a cut
 * arrives whole, and memory holds no more than one piece can unpack to.
 */
async function* unpack(
  stream: Gunzip | InflateRaw,
  packed: AsyncIterable<Buffer>,
  progress: Progress,
  limits: UnpackLimits,
): AsyncGenerator<Buffer> {
  const ready: Buffer[] = []
  let packedBytes = 0
  let unpackedBytes = 0
  const failed = new Promise<never>((_, reject) => stream.once('error', reject))
  failed.catch(() => undefined) // Awaited below; this only keeps it from counting as unhandled.
  const ended = new Promise<void>((resolve) => stream.once('end', resolve))
  stream.on('data', (chunk: Buffer) => {
    unpackedBytes += chunk.length
    if (isOver(limits, packedBytes, unpackedBytes)) stream.destroy(tooMuch(unpackedBytes))
    else ready.push(chunk)
  })
  try {
    for await (const chunk of packed) {
      for (let at = 0; at < chunk.length; at += PACKED_PIECE_BYTES) {
        const piece = chunk.subarray(at, at + PACKED_PIECE_BYTES)
        packedBytes += piece.length
        const written = new Promise<void>((resolve) => stream.write(piece, () => resolve()))
        await Promise.race([written, failed])
        yield* ready.splice(0)
      }
    }
    stream.end()
    await Promise.race([ended, failed])
  } catch (error) {
    yield* ready.splice(0)
    if (!isCutOff(error)) throw damaged(error)
    progress.isCut = true
  } finally {
    stream.destroy()
  }
  yield* ready.splice(0)
}

function isOver(limits: UnpackLimits, packedBytes: number, unpackedBytes: number): boolean {
  if (unpackedBytes > limits.unpackedBytesMax) return true
  return unpackedBytes > RATIO_FROM_BYTES && unpackedBytes > packedBytes * limits.ratioMax
}

function tooMuch(unpackedBytes: number): FeedError {
  return new FeedError(
    `the archive unpacks to more than is allowed (stopped at ${unpackedBytes} bytes)`,
  )
}

function damaged(error: unknown): unknown {
  const isZlib = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
  return isZlib ? damagedArchive(error) : error
}

function damagedArchive(error: Error): FeedError {
  return new FeedError(`the archive is damaged: ${error.message}`, { cause: error })
}

/** True when the packed data simply ends; other faults mean damage. */
function isCutOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
}

async function* checked(
  bytes: AsyncIterable<Buffer>,
  wanted: number | null,
  progress: Progress,
): AsyncGenerator<Buffer> {
  let sum = 0
  for await (const chunk of bytes) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (wanted !== null && !progress.isCut && sum !== wanted) {
    throw new FeedError('the archive is damaged: its checksum is wrong')
  }
}

// Fields of a local file header (PKWARE APPNOTE 4.3.7).
const LOCAL_HEADER = 0x04034b50
const EMPTY_ARCHIVE = 0x06054b50 // The archive consists of the end of its directory only.
const LOCAL_HEADER_BYTES = 30
const DEFLATED = 8
const STORED = 0
const IS_ENCRYPTED = 1

interface ZipEntry {
  readonly start: number
  readonly end: number
  readonly isDeflated: boolean
  /** Null where the archive was cut before this field. */
  readonly crc32: number | null
}

/** The position of the one file in a zip archive. */
async function findZipEntry(path: string, size: number): Promise<ZipEntry> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false }).catch(() => null)
  // The directory is at the end: an archive that was cut off has none, but its first file begins
  // at the start.
  if (zip === null) return firstZipEntry(path, size)
  try {
    return await onlyEntry(zip)
  } catch (error) {
    // yauzl reports faults as a plain Error; the file system's have a code.
    const isPlain = error instanceof Error && error.constructor === Error && !('code' in error)
    throw isPlain ? damagedArchive(error) : error
  } finally {
    zip.close()
  }
}

async function onlyEntry(zip: ZipFile): Promise<ZipEntry> {
  const files: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    if (isFeed(entry.fileName)) files.push(entry)
    if (files.length > 1)
      throw new FeedError('the archive holds more than one file; pack the feed alone')
  }
  const [entry] = files
  if (entry === undefined) throw new FeedError('the archive holds no file')
  if (entry.isEncrypted() || ![DEFLATED, STORED].includes(entry.compressionMethod)) {
    throw new FeedError('the archive is encrypted or packed in a way other than deflate')
  }
  const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
  return {
    start,
    end: start + entry.compressedSize,
    isDeflated: entry.compressionMethod === DEFLATED,
    crc32: entry.crc32,
  }
}

/** Folders and the additions of macOS archivers are not feeds. */
function isFeed(fileName: string): boolean {
  const name = fileName.slice(fileName.lastIndexOf('/') + 1)
  return name !== '' && !name.startsWith('.') && !fileName.startsWith('__MACOSX/')
}

async function firstZipEntry(path: string, size: number): Promise<ZipEntry> {
  const header = await readStart(path, LOCAL_HEADER_BYTES)
  const method = header.readUInt16LE(8)
  if ((header.readUInt16LE(6) & IS_ENCRYPTED) !== 0 || method !== DEFLATED) {
    throw new FeedError('the archive is truncated or damaged, and its contents cannot be read')
  }
  const start = LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
  return { start, end: size, isDeflated: true, crc32: null }
}
