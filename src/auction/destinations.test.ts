import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { heapShare } from '../platform/process/heap-share.ts'
import { ADDRESSES, Destinations, ENTRY_BYTES } from './destinations.ts'

async function open(t: TestContext, bytesMax?: number) {
  const folder = await temporaryFolder(t, 'souk-destinations-')
  const path = join(folder, 'destinations')
  const start = async () => {
    const destinations = new Destinations(path, (error) => assert.fail(String(error)), bytesMax)
    await destinations.open()
    t.after(() => destinations.close())
    return destinations
  }
  return { start, path }
}

test('destinations are known after a restart', async (t) => {
  const { start } = await open(t)
  const before = await start()
  before.note('1', 'https://shop.example/a')
  before.note('2', 'https://shop.example/b')
  before.note('1', 'https://shop.example/c')
  await before.close()
  const after = await start()
  assert.deepEqual(
    [after.get('1'), after.get('2')],
    ['https://shop.example/c', 'https://shop.example/b'],
  )
  await after.close()
})

test('URLs of any length stay within the limit, also after a restart', async (t) => {
  const { start } = await open(t, 5 * (2_000 + ENTRY_BYTES))
  const long = (id: number) => `https://shop.example/${'x'.repeat(1_979)}${id}`.slice(0, 2_000)
  const held = (destinations: Destinations) =>
    Array.from({ length: 20 }, (_, id) => id).filter((id) => destinations.get(`${id}`) !== null)
  const before = await start()
  for (let id = 0; id < 20; id += 1) before.note(`${id}`, long(id))
  assert.deepEqual(held(before), [15, 16, 17, 18, 19])
  // A second URL for the same id frees the first one's space.
  for (let id = 15; id < 20; id += 1) before.note(`${id}`, 'https://shop.example/short')
  for (let id = 0; id < 4; id += 1) before.note(`${id}`, long(id))
  assert.deepEqual(held(before), [0, 1, 2, 3, 15, 16, 17, 18, 19])
  await before.close()
  const after = await start()
  assert.deepEqual(held(after), [0, 1, 2, 3, 15, 16, 17, 18, 19])
  await after.close()
})

test('the latest destinations are dropped last, also after the file was rewritten', async (t) => {
  const url = 'https://shop.example/a'
  const { start, path } = await open(t, 3 * (url.length + ENTRY_BYTES))
  const before = await start()
  for (const id of ['1', '2', '3', '4']) {
    before.note(id, url)
    await before.close()
  }
  assert.equal(
    await readFile(path, 'utf8'),
    ['2', '3', '4'].map((id) => `${id}\t${url}\n`).join(''),
  )
  const after = await start()
  after.note('5', url)
  assert.deepEqual(
    ['2', '3', '4', '5'].filter((id) => after.get(id) !== null),
    ['3', '4', '5'],
  )
  await after.close()
})

test('a node remembers a million URLs of usual length', () => {
  const aMillion = 1_000_000 * (ENTRY_BYTES + 112)
  assert.ok(heapShare(ADDRESSES, 1024 ** 3) >= aMillion)
})

test('a line that a crash or a full disk cut off leads nobody astray', async (t) => {
  const { start, path } = await open(t)
  const before = await start()
  before.note('1', 'https://shop.example/a')
  before.note('2', 'https://shop.example/kettles/b')
  await before.close()
  const { length } = await readFile(path)
  await truncate(path, length - 'ettles/b\n'.length)
  const after = await start()
  assert.deepEqual([after.get('1'), after.get('2')], ['https://shop.example/a', null])
  after.note('3', 'https://shop.example/c')
  await after.close()
  const again = await start()
  assert.deepEqual(
    ['1', '2', '3'].map((id) => again.get(id)),
    ['https://shop.example/a', null, 'https://shop.example/c'],
  )
  await again.close()
})

test("while nothing can be written, the queue stays within the cache's limit", async (t) => {
  const folder = await temporaryFolder(t, 'souk-destinations-')
  const path = join(folder, 'away', 'destinations')
  await writeFile(join(folder, 'away'), 'a file where the folder would be')
  const errors: unknown[] = []
  const destinations = new Destinations(path, (error) => errors.push(error), 4 * (25 + ENTRY_BYTES))
  for (let id = 0; id < 20; id += 1) {
    destinations.note(`${id}`, `https://shop.example/${id}`)
    await destinations.close()
  }
  assert.equal(errors.length, 20)
  await rm(join(folder, 'away'))
  await destinations.close()
  const lines = (await readFile(path, 'utf8')).split('\n')
  assert.deepEqual(lines.slice(1, -1), [
    '16\thttps://shop.example/16',
    '17\thttps://shop.example/17',
    '18\thttps://shop.example/18',
    '19\thttps://shop.example/19',
  ])
})

test('a failed rewrite leaves no file that fills the disk', async (t) => {
  const folder = await temporaryFolder(t, 'souk-destinations-')
  const path = join(folder, 'destinations')
  const errors: unknown[] = []
  const destinations = new Destinations(path, (error) => errors.push(error))
  for (const name of ['a', 'b']) {
    if (name === 'b') {
      await rm(path)
      await mkdir(join(path, 'in its way'), { recursive: true })
    }
    destinations.note('1', `https://shop.example/${name}`)
    await destinations.close()
  }
  assert.equal(errors.length, 1)
  assert.deepEqual(await readdir(folder), ['destinations'])
})
