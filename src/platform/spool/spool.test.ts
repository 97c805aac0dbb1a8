import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { openSpool, type Spool, SpoolFull } from './spool.ts'
import { frame } from './spool-frames.ts'

const MEBIBYTE = 1024 * 1024

async function makeRoot(t: TestContext): Promise<string> {
  const root = await temporaryFolder(t, 'spool of a test ')
  return root
}

function openAt(root: string, { bytesMax = MEBIBYTE, damage = [] as string[] } = {}) {
  return openSpool({ root, bytesMax, onDamage: (problem) => damage.push(problem) })
}

const toRecords = (texts: readonly string[]) => texts.map((text) => Buffer.from(text))

/** Drains everything and returns the texts in order. */
async function drainAll(spool: Spool, owners: string[] = []): Promise<string[]> {
  const drained: string[] = []
  await spool.drain({
    write: async (records) => {
      drained.push(...records.map(String))
    },
    onDrained: async (owner) => {
      owners.push(owner)
    },
  })
  return drained
}

/** A directory as a killed process leaves it: its files, and a lock that nobody holds. */
async function leaveBehind(root: string, contents: Buffer, owner?: string): Promise<string> {
  const spool = await openAt(root)
  if (owner !== undefined) await spool.recordOwner(owner)
  await spool.append(toRecords(['placeholder']))
  await spool.close()
  const names = await readdir(root)
  const name = names.find((entry) => /^\d+-/.test(entry))
  assert(name)
  const file = join(root, name, '00000001.spool')
  await writeFile(file, contents)
  return file
}

test('appended records are drained in order and once', async (t) => {
  const spool = await openAt(await makeRoot(t))
  const texts = Array.from({ length: 1_200 }, (_, number) => `record ${number}`)
  await Promise.all(texts.map((text) => spool.append(toRecords([text]))))
  assert(!spool.isEmpty())
  assert.deepEqual(await drainAll(spool), texts)
  assert(spool.isEmpty())
  assert.deepEqual(await drainAll(spool), [])
  await spool.close()
})

test('a record counts as waiting from the moment it is appended', async (t) => {
  const spool = await openAt(await makeRoot(t))
  assert(spool.isEmpty())
  const appending = spool.append(toRecords(['a']))
  assert(!spool.isEmpty())
  await appending
  assert(!spool.isEmpty())
  await drainAll(spool)
  assert(spool.isEmpty())
  await spool.close()
})

test('records stay while their store is down and continue where they stopped', async (t) => {
  const spool = await openAt(await makeRoot(t))
  const texts = Array.from({ length: 1_100 }, (_, number) => String(number))
  await spool.append(toRecords(texts))
  const stored: string[] = []
  const failAfterFirst = async (records: readonly Buffer[]) => {
    if (stored.length > 0) throw new Error('away')
    stored.push(...records.map(String))
  }
  await assert.rejects(spool.drain({ write: failAfterFirst }), /away/)
  assert(!spool.isEmpty())
  await spool.append(toRecords(['later']))
  stored.push(...(await drainAll(spool)))
  assert.deepEqual(stored, [...texts, 'later'])
  await spool.close()
})

test('a store that stays down does not cost a file per attempt', async (t) => {
  const root = await makeRoot(t)
  const spool = await openAt(root)
  const away = async () => {
    throw new Error('away')
  }
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await spool.append(toRecords([`attempt ${attempt}`]))
    await assert.rejects(spool.drain({ write: away }))
  }
  const [directory = ''] = (await readdir(root)).filter((name) => /^\d+-/.test(name))
  const files = (await readdir(join(root, directory))).filter((name) => name.endsWith('.spool'))
  assert(files.length <= 2, files.join())
  assert.equal((await drainAll(spool)).length, 10)
  await spool.close()
})

test('the spool of a closed process is adopted, drained and removed', async (t) => {
  const root = await makeRoot(t)
  const first = await openAt(root)
  await first.recordOwner('node 7')
  await first.append(toRecords(['a', 'b']))
  await first.close()

  const second = await openAt(root)
  assert(second.isEmpty(), 'the others’ records are not its own')
  assert(second.hasWork())
  const owners: string[] = []
  assert.deepEqual(await drainAll(second, owners), ['a', 'b'])
  assert.deepEqual(owners, ['node 7'])
  assert(!second.hasWork())
  await second.close()
  assert.deepEqual(await readdir(root), ['lock'])
})

test('adopted records stay adopted while their store is down', async (t) => {
  const root = await makeRoot(t)
  const first = await openAt(root)
  await first.append(toRecords(['a']))
  await first.close()
  const second = await openAt(root)
  const away = async () => {
    throw new Error('away')
  }
  await assert.rejects(second.drain({ write: away }), /away/)
  await second.close()
  const third = await openAt(root)
  assert.deepEqual(await drainAll(third), ['a'])
  await third.close()
})

test('an unreadable owner file neither loses the owner nor blocks other spools', async (t) => {
  const root = await makeRoot(t)
  const owner = join(dirname(await leaveBehind(root, frame(toRecords(['a'])), 'node 7')), 'owner')
  const damage: string[] = []
  const spool = await openAt(root, { damage })
  await spool.append(toRecords(['own']))
  await rename(owner, `${owner}.kept`)
  await mkdir(owner)
  for (let attempt = 0; attempt < 3; attempt += 1) {
    assert.deepEqual(await drainAll(spool), attempt === 0 ? ['a', 'own'] : [])
  }
  assert.match(damage.join(), /^[^,]*is drained and still kept: EISDIR[^,]*(, read)?$/)
  await rm(owner, { recursive: true })
  await rename(`${owner}.kept`, owner)
  const owners: string[] = []
  await drainAll(spool, owners)
  assert.deepEqual(owners, ['node 7'])
  await spool.close()
})

test('a file that cannot be deleted is drained once', async (t) => {
  const spool = await openAt(await makeRoot(t))
  await spool.append(toRecords(['a']))
  const refusing = t.mock.method(fs, 'unlink', async () => {
    throw new Error('read-only file system')
  })
  syncBuiltinESMExports()
  const drained: string[] = []
  const write = async (records: readonly Buffer[]) => void drained.push(...records.map(String))
  for (let round = 0; round < 3; round += 1)
    await assert.rejects(spool.drain({ write }), /read-only/)
  refusing.mock.restore()
  syncBuiltinESMExports()
  await spool.drain({ write })
  assert.deepEqual(drained, ['a'])
  assert(spool.isEmpty())
  await spool.close()
})

test('an unreadable file is reported once, and the others are drained', async (t) => {
  const root = await makeRoot(t)
  const file = await leaveBehind(root, frame(toRecords(['a'])))
  const damage: string[] = []
  const spool = await openAt(root, { damage })
  await rename(file, `${file}.kept`)
  await mkdir(file)
  for (let round = 0; round < 3; round += 1) {
    await spool.append(toRecords([`own ${round}`]))
    assert.deepEqual(await drainAll(spool), [`own ${round}`])
  }
  assert.equal(damage.length, 1, damage.join())
  await spool.close()
})

test('the directory of a live process is left alone', async (t) => {
  const root = await makeRoot(t)
  const first = await openAt(root)
  await first.append(toRecords(['mine']))
  const second = await openAt(root)
  await second.adoptAbandoned()
  assert(!second.hasWork())
  assert.deepEqual(await drainAll(second), [])
  assert.deepEqual(await drainAll(first), ['mine'])
  await Promise.all([first.close(), second.close()])
})

test('only one process adopts an abandoned directory', async (t) => {
  const root = await makeRoot(t)
  await leaveBehind(root, frame(toRecords(['left'])))
  const spools = await Promise.all(Array.from({ length: 4 }, () => openAt(root)))
  const drained = await Promise.all(spools.map((spool) => drainAll(spool)))
  assert.deepEqual(drained.flat(), ['left'])
  await Promise.all(spools.map((spool) => spool.close()))
})

test('an unfinished record is dropped, and everything before it is drained', async (t) => {
  const root = await makeRoot(t)
  const whole = frame(toRecords(['a', 'b']))
  const torn = frame(toRecords(['never acknowledged'])).subarray(0, 20)
  await leaveBehind(root, Buffer.concat([whole, torn]))
  const damage: string[] = []
  const spool = await openAt(root, { damage })
  assert.deepEqual(await drainAll(spool), ['a', 'b'])
  assert.deepEqual(damage, [])
  await spool.close()
})

test('a damaged record is reported and its file kept, and every other record is drained', async (t) => {
  const root = await makeRoot(t)
  const file = frame(toRecords(['first', 'second', 'third']))
  file.write('SECOND', file.indexOf('second'))
  await leaveBehind(root, file)
  const damage: string[] = []
  const spool = await openAt(root, { damage })
  assert.deepEqual(await drainAll(spool), ['first', 'third'])
  assert.equal(damage.length, 1)
  const kept = /moved to (.*)$/.exec(damage[0] ?? '')?.[1] ?? ''
  assert.deepEqual(await readFile(kept), file)
  assert(!spool.hasWork())
  await spool.close()
})

test('a full spool refuses records and accepts them again once it is drained', async (t) => {
  const spool = await openAt(await makeRoot(t), { bytesMax: 100 })
  await spool.append(toRecords(['x'.repeat(60)]))
  await assert.rejects(spool.append(toRecords(['y'.repeat(60)])), SpoolFull)
  assert.deepEqual(await drainAll(spool), ['x'.repeat(60)])
  await spool.append(toRecords(['y'.repeat(60)]))
  assert.deepEqual(await drainAll(spool), ['y'.repeat(60)])
  await spool.close()
})

test('adopted spools count towards the size limit', async (t) => {
  const root = await makeRoot(t)
  await leaveBehind(root, frame(toRecords(['x'.repeat(80)])))
  const spool = await openAt(root, { bytesMax: 100 })
  await assert.rejects(spool.append(toRecords(['y'.repeat(30)])), SpoolFull)
  await drainAll(spool)
  await spool.append(toRecords(['y'.repeat(30)]))
  await drainAll(spool)
  await spool.close()
})

test('a disk error rejects the append, and the next one uses a new file', async (t) => {
  const root = await makeRoot(t)
  const spool = await openAt(root)
  await spool.append(toRecords(['before']))
  const [directory = ''] = (await readdir(root)).filter((name) => /^\d+-/.test(name))
  await drainAll(spool)
  await mkdir(join(root, directory, '00000002.spool')) // The next file cannot be created.
  await assert.rejects(spool.append(toRecords(['no file'])), /EEXIST/)
  assert(spool.isEmpty())
  await spool.append(toRecords(['after']))
  assert.deepEqual(await drainAll(spool), ['after'])
  await spool.close()
})

test("a spool that is deleted in use is recreated once and known as its owner's", async (t) => {
  const root = await makeRoot(t)
  const damage: string[] = []
  const spool = await openAt(root, { damage })
  await spool.recordOwner('me')
  await spool.append(toRecords(['deleted'])) // Its file is open.
  await rm(root, { recursive: true })
  await Promise.all([spool.adoptAbandoned(), spool.append(toRecords(['a', 'b']))])
  assert.match(damage.join(), /^[^,]+ was deleted, with \d+ bytes: [^,]+ is in its place$/)
  await spool.close()
  const [next, owners] = [await openAt(root), [] as string[]]
  assert.deepEqual(await drainAll(next, owners), ['a', 'b'])
  assert.deepEqual(owners, ['me'])
  await next.close()
})

test('an adopted spool that somebody deletes before draining is reported and dropped', async (t) => {
  const root = await makeRoot(t)
  const left = dirname(await leaveBehind(root, frame(toRecords(['deleted'])), 'gone'))
  const damage: string[] = []
  const spool = await openAt(root, { damage })
  await rm(left, { recursive: true })
  await spool.append(toRecords(['own']))
  const owners: string[] = []
  assert.deepEqual(await drainAll(spool, owners), ['own'])
  assert.deepEqual(owners, [], 'nobody says that it was drained')
  assert.match(damage.join(), /^[^,]+ was deleted, with \d+ bytes$/)
  assert.deepEqual([spool.hasWork(), spool.bytes()], [false, 0])
  await spool.close()
})

test('failed writes leave no file, even while earlier records cannot be drained', async (t) => {
  const root = await makeRoot(t)
  const spool = await openAt(root)
  await spool.append(toRecords(['before']))
  const away = { write: () => Promise.reject(new Error('the log is away')) }
  await assert.rejects(spool.drain(away))
  const [directory = ''] = (await readdir(root)).filter((name) => /^\d+-/.test(name))
  await using handle = await fs.open(join(root, directory, 'lock'))
  const full = t.mock.method(Object.getPrototypeOf(handle), 'datasync', async () => {
    throw new Error('ENOSPC')
  })
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await assert.rejects(spool.append(toRecords(['refused'])), /ENOSPC/)
  }
  assert.deepEqual(await readdir(join(root, directory)), ['00000001.spool', 'lock'])
  await assert.rejects(spool.setAside(toRecords(['refused'])), /ENOSPC/)
  assert.deepEqual(await readdir(join(root, 'aside')), [])
  full.mock.restore()
  assert.deepEqual(await drainAll(spool), ['before'])
  assert.deepEqual(await readdir(join(root, directory)), ['lock'])
  assert(!spool.hasWork())
  await spool.close()
})

test('retains records that were set aside, and never drains them', async (t) => {
  const root = await makeRoot(t)
  const spool = await openAt(root)
  await spool.setAside(toRecords(['refused']))
  assert.deepEqual(await drainAll(spool), [])
  await spool.close()
  const next = await openAt(root)
  assert.deepEqual(await drainAll(next), [])
  await next.close()
  const kept = (await readdir(join(root, 'aside'), { recursive: true })).filter((name) =>
    name.endsWith('.spool'),
  )
  assert.equal(kept.length, 1)
  assert.deepEqual(
    await readFile(join(root, 'aside', kept[0] ?? '')),
    frame(toRecords(['refused'])),
  )
})

test('nothing below the root except spool directories is touched', async (t) => {
  const root = await makeRoot(t)
  await writeFile(join(root, 'notes.txt'), 'keep me')
  const spool = await openAt(root)
  await drainAll(spool)
  await spool.close()
  await appendFile(join(root, 'notes.txt'), '!')
  assert.equal(await readFile(join(root, 'notes.txt'), 'utf8'), 'keep me!')
})

test('a process without free file handles refuses records and keeps running', async (t) => {
  if (process.platform === 'win32') return t.skip('has no limit of files to set')
  const module = new URL('./spool.ts', import.meta.url).href
  // With one handle left the spool's file can be opened and its folder cannot. A leaked handle
  // would exit the process once it is collected.
  const code = `
    import { closeSync, openSync } from 'node:fs'
    import { setTimeout as sleep } from 'node:timers/promises'
    import { openSpool } from '${module}'
    const say = (what) => process.stdout.write(what + ' ')
    const spool = await openSpool({ root: process.argv[1], bytesMax: 1e6, onDamage: say })
    const held = []
    const fill = () => { for (;;) held.push(openSync('/dev/null')) }
    try { fill() } catch ({ code }) { say(code) }
    closeSync(held.pop())
    await spool.append([Buffer.from('a')]).catch(({ code }) => say(code))
    for (const file of held) closeSync(file)
    for (let round = 0; round < 10; round++) { gc(); await sleep(1) }
    await spool.append([Buffer.from('b')])
    await spool.drain({ write: async (records) => say(records.map(String).join()) })`
  const node = [process.execPath, '--expose-gc', '--input-type=module', '-e', code]
  const run = 'ulimit -n 64; exec "$@"'
  const child = spawn('sh', ['-c', run, 'sh', ...node, await makeRoot(t)])
  const printed = text(child.stdout)
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assert.equal(await printed, 'EMFILE EMFILE b ')
})
