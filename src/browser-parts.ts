/**
 * The parts that run in browsers, tags and dashboard: built into dist/ from what lies here.
 *
 * Stale is what was built from other bytes than these: the hash of a part's sources and of the
 * lockfile stands beside what was built from them.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeFileLock } from './platform/file-lock.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
/** Processes of one clone that start together: one builds, and the others wait this long. */
const BUILD_MS = 120_000

interface Part {
  readonly name: string
  readonly sources: readonly string[]
  readonly command: readonly string[]
}

const VITE = 'node_modules/vite/bin/vite.js'
const PARTS: readonly Part[] = [
  {
    name: 'tag',
    sources: ['tag', 'scripts/build-tag.ts'],
    command: ['scripts/build-tag.ts', '--force'],
  },
  {
    name: 'dashboard',
    // The API reference is written from the last two.
    sources: ['dashboard', 'openapi.json', 'src/platform/errors.ts'],
    command: [VITE, 'build', 'dashboard', '--outDir', '../dist/dashboard', '--emptyOutDir'],
  },
]

/** Builds every part, or what is stale; throws when one cannot be built. */
export function buildBrowserParts({ isOnlyIfStale }: { isOnlyIfStale: boolean }): void {
  const isDue = (part: Part) => !isOnlyIfStale || !isBuilt(part)
  if (!PARTS.some(isDue)) return
  mkdirSync(DIST, { recursive: true })
  const lock = takeFileLock(join(DIST, 'build.lock'), { waitMs: BUILD_MS })
  if (lock === null) throw new Error(`another process builds ${DIST} for too long`)
  try {
    for (const part of PARTS.filter(isDue)) build(part)
  } finally {
    lock.release()
  }
}

function build(part: Part): void {
  const hash = hashOf(part)
  process.stderr.write(`Building ${part.name} …\n`)
  const { status, error } = spawnSync(process.execPath, part.command, {
    cwd: ROOT,
    // Standard output belongs to the program that is started after this.
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
  })
  if (status !== 0) throw new Error(`${part.name} could not be built`, { cause: error })
  writeFileSync(recordOf(part), hash)
}

function recordOf({ name }: Part): string {
  return join(DIST, `${name}.sources`)
}

function isBuilt(part: Part): boolean {
  if (!existsSync(join(DIST, part.name)) || !existsSync(recordOf(part))) return false
  return readFileSync(recordOf(part), 'utf8') === hashOf(part)
}

function hashOf({ sources }: Part): string {
  const hash = createHash('sha256')
  for (const path of [...sources, 'package-lock.json'].flatMap(filesBelow)) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(ROOT, path)))
      .update('\0')
  }
  return hash.digest('hex')
}

function filesBelow(path: string): string[] {
  const full = join(ROOT, path)
  if (statSync(full).isFile()) return [path]
  const entries = readdirSync(full, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort()
}
