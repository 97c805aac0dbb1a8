import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { FeedError } from './feed-error.ts'
import { openFeedFile } from './feed-file.ts'

const folder = await temporaryFolder({ after }, 'souk-test-')

async function unpack(bytes: Buffer): Promise<{ text: string; isCut: boolean; read: boolean }> {
  const path = join(folder, 'feed')
  await writeFile(path, bytes)
  const file = await openFeedFile(path)
  const chunks: Buffer[] = []
  for await (const chunk of file.bytes()) chunks.push(chunk)
  const read = file.readBytes > 0.9 * file.totalBytes
  return { text: Buffer.concat(chunks).toString(), isCut: file.isCut, read }
}

const LOCAL_HEADER_BYTES = 30

/** A zip archive: local headers and data, then the directory, then its end record. */
function zip(
  files: readonly {
    name: string
    text: string
    method?: number
    flags?: number
    crc?: number
    /** What archivers add to the local header only: times, owners. */
    extra?: string
  }[],
): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, text, method = 8, flags = 0, crc = crc32(text), extra = '' } of files) {
    const data = method === 8 ? deflateRawSync(text) : Buffer.from(text)
    // Version, flags, method, time, date, checksum, sizes, lengths of name and extra field.
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(flags, 2)
    shared.writeUInt16LE(method, 4)
    shared.writeUInt32LE(crc, 10)
    shared.writeUInt32LE(data.length, 14)
    shared.writeUInt32LE(Buffer.byteLength(text), 18)
    shared.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.from(shared)
    local.writeUInt16LE(extra.length, 24)
    parts.push(Buffer.from('PK\x03\x04'), local, Buffer.from(name + extra), data)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), shared, rest, Buffer.from(name))
    offset += LOCAL_HEADER_BYTES + Buffer.byteLength(name) + extra.length + data.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, entries, Buffer.from('PK\x05\x06'), end])
}

const LINES = Array.from({ length: 20_000 }, (_, row) => `row ${row} ${(row * 7919) % 1013}\n`)
const TEXT = LINES.join('')
const EXTRA = 'UT\x05\x00\x01time'

test('plain, gzip and zip files give the same bytes, and all of them are read', async () => {
  const gzips = Buffer.concat([gzipSync(TEXT.slice(0, 1000)), gzipSync(TEXT.slice(1000))])
  const archives = {
    plain: Buffer.from(TEXT),
    gzip: gzipSync(TEXT),
    'two gzips in one file': gzips,
    zip: zip([{ name: 'feed.csv', text: TEXT }]),
    'zip with an extra field': zip([{ name: 'feed.csv', text: TEXT, extra: EXTRA }]),
    'zip, stored': zip([{ name: 'feed.csv', text: TEXT, method: 0 }]),
    'zip with the files that macOS adds': zip([
      { name: 'out/', text: '', method: 0 },
      { name: '__MACOSX/._feed.csv', text: 'x' },
      { name: 'out/.DS_Store', text: 'x' },
      { name: 'out/feed.csv', text: TEXT },
    ]),
  }
  for (const [name, bytes] of Object.entries(archives)) {
    const { text, isCut } = await unpack(bytes)
    assert.deepEqual([text === TEXT, isCut], [true, false], name)
  }
  assert.equal((await unpack(gzipSync(TEXT))).read, true)
  assert.equal((await unpack(Buffer.alloc(0))).text, '')
})

test('an archive that was cut gives what it still holds, and says so', async () => {
  const zips = ['', EXTRA].map((extra) => zip([{ name: 'feed.csv', text: TEXT, extra }]))
  for (const bytes of [gzipSync(TEXT), ...zips]) {
    const { text, isCut } = await unpack(bytes.subarray(0, Math.floor(bytes.length * 0.6)))
    assert.equal(isCut, true)
    assert.ok(text.length > TEXT.length * 0.4 && TEXT.startsWith(text), String(text.length))
  }
})

test('an archive that is damaged, encrypted or ambiguous is refused', async () => {
  const gzip = gzipSync(TEXT)
  gzip.fill(0, 10_000, 10_100)
  await assert.rejects(unpack(gzip), /the archive is damaged: /)
  const wrong = zip([{ name: 'feed.csv', text: TEXT, crc: 1 }])
  await assert.rejects(unpack(wrong), /checksum is wrong/)
  const hidden = { name: '.x', text: '', method: 0 }
  const headless = zip([hidden, { name: 'feed.csv', text: TEXT }])
  headless.fill(0xff, LOCAL_HEADER_BYTES + 2, LOCAL_HEADER_BYTES + 6)
  const outside = zip([{ name: '../feed.csv', text: TEXT }])
  for (const archive of [headless, outside]) await assert.rejects(unpack(archive), FeedError)
  for (const packing of [{ method: 0 }, { flags: 1 }]) {
    const archive = zip([{ name: 'feed.csv', text: TEXT, ...packing }]).subarray(0, 30_000)
    await assert.rejects(unpack(archive), /truncated or damaged, and its contents cannot be read/)
  }
  const two = zip([
    { name: 'a.csv', text: 'a' },
    { name: 'b.csv', text: 'b' },
  ])
  await assert.rejects(unpack(two), /more than one file/)
  await assert.rejects(unpack(zip([])), /holds no file/)
  await assert.rejects(unpack(zip([{ name: 'a.csv', text: 'a', flags: 1 }])), /encrypted/)
  await assert.rejects(
    unpack(zip([{ name: 'a.csv', text: 'a', method: 12 }])),
    /other than deflate/,
  )
})

test('an archive that expands without end is stopped long before it fills anything', async () => {
  const zeros = gzipSync(Buffer.alloc(64 << 20))
  await assert.rejects(unpack(zeros), /unpacks to more than is allowed \(stopped at 16/)
  const zipped = zip([{ name: 'feed.csv', text: '0'.repeat(64 << 20) }])
  await assert.rejects(unpack(zipped), /unpacks to more than is allowed/)
})

test('a feed of many megabytes that packs as well as feeds do is read to its end', async () => {
  const { text, isCut } = await unpack(gzipSync(TEXT.repeat(100)))
  assert.ok(text.length > 20 << 20, 'past the size from which the ratio counts')
  assert.deepEqual([text.length, isCut], [100 * TEXT.length, false])
})

test('no file stays open, whatever it held', async () => {
  const cut = zip([{ name: 'feed.csv', text: TEXT }]).subarray(0, 30_000)
  const opened = async () => (await readdir('/proc/self/fd')).length
  const before = await opened()
  for (const bytes of [zip([{ name: 'feed.csv', text: TEXT }]), zip([]), cut, gzipSync(TEXT)]) {
    await unpack(bytes).catch((error) => assert.ok(error instanceof FeedError))
  }
  // A stream closes its file a moment after its end.
  for (let tries = 0; tries < 100 && (await opened()) > before; tries += 1) await sleep(10)
  assert.equal(await opened(), before)
})

test('the unpacked size has a separate limit', async () => {
  const path = join(folder, 'large')
  await writeFile(path, gzipSync(TEXT))
  const file = await openFeedFile(path, { unpackedBytesMax: 100_000, ratioMax: 200 })
  const readAll = async () => {
    let bytes = 0
    for await (const chunk of file.bytes()) bytes += chunk.length
    return bytes
  }
  await assert.rejects(readAll(), /unpacks to more than is allowed/)
})

test('a folder is refused in one line that names it', async () => {
  await assert.rejects(openFeedFile(folder), new FeedError(`file: ${folder} is not a file`))
})
