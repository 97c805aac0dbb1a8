/**
 * Frames records in a file that may end anywhere, and reads them back.
 *
 * A frame is mark, length, CRC, record. After a broken frame the mark lets a reader find the next
 * whole one, so damage costs only the records it hit.
 */
import { crc32 } from 'node:zlib'

const MARK = 0x4c50_6b53 // 'SkPL'
const HEADER_BYTES = 12

export function frameBytes(record: Uint8Array): number {
  return HEADER_BYTES + record.length
}

/** Records one after the other, ready to be written. */
export function frame(records: readonly Uint8Array[]): Buffer {
  const total = records.reduce((bytes, record) => bytes + frameBytes(record), 0)
  const buffer = Buffer.allocUnsafe(total)
  let offset = 0
  for (const record of records) {
    buffer.writeUInt32LE(MARK, offset)
    buffer.writeUInt32LE(record.length, offset + 4)
    buffer.writeUInt32LE(checksum(record), offset + 8)
    buffer.set(record, offset + HEADER_BYTES)
    offset += frameBytes(record)
  }
  return buffer
}

export interface Unframed {
  readonly records: Buffer[]
  /** Bytes between whole frames. They are damage, because frames are written without gaps. */
  readonly damagedBytes: number
  /** Bytes of an unfinished last frame, which was never acknowledged. */
  readonly tornBytes: number
}

/** Every whole record of a file, in order, and how many bytes were none. */
export function unframe(file: Buffer): Unframed {
  const records: Buffer[] = []
  let damagedBytes = 0
  let offset = 0
  while (offset < file.length) {
    const record = recordAt(file, offset)
    if (record !== null) {
      records.push(record)
      offset += frameBytes(record)
      continue
    }
    const next = nextFrame(file, offset + 1)
    if (next === null) {
      const rest = file.subarray(offset)
      return isUnfinished(rest)
        ? { records, damagedBytes, tornBytes: rest.length }
        : { records, damagedBytes: damagedBytes + rest.length, tornBytes: 0 }
    }
    damagedBytes += next - offset
    offset = next
  }
  return { records, damagedBytes, tornBytes: 0 }
}

function recordAt(file: Buffer, offset: number): Buffer | null {
  const start = offset + HEADER_BYTES
  if (start > file.length || file.readUInt32LE(offset) !== MARK) return null
  const end = start + file.readUInt32LE(offset + 4)
  if (end > file.length) return null
  const record = file.subarray(start, end)
  return checksum(record) === file.readUInt32LE(offset + 8) ? record : null
}

const markBytes = Buffer.alloc(4)
markBytes.writeUInt32LE(MARK)

function nextFrame(file: Buffer, from: number): number | null {
  let offset = file.indexOf(markBytes, from)
  while (offset !== -1) {
    if (recordAt(file, offset) !== null) return offset
    offset = file.indexOf(markBytes, offset + 1)
  }
  return null
}

/** Whether a crash can leave these last bytes: the start of a frame, or blank space. */
function isUnfinished(rest: Buffer): boolean {
  if (rest.every((byte) => byte === 0)) return true
  const mark = rest.subarray(0, markBytes.length)
  if (!markBytes.subarray(0, mark.length).equals(mark)) return false
  return rest.length < HEADER_BYTES || HEADER_BYTES + rest.readUInt32LE(4) > rest.length
}

/** Covers the length too, so that a frame is invalid with another frame's length. */
function checksum(record: Uint8Array): number {
  return crc32(record, record.length)
}
