/**
 * Builds the browser parts into dist/: the tags and the dashboard.
 *
 *   node scripts/build.ts [--if-stale]
 *
 * Stale is what was built from other bytes than those that lie here: the hash of a part's sources
 * and of the lockfile stands beside what was built from them.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

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

const isOnlyIfStale = process.argv.includes('--if-stale')
for (const part of PARTS) {
  if (!existsSync(join(ROOT, part.name))) continue
  const hash = hashOf([...part.sources, 'package-lock.json'])
  if (isOnlyIfStale && isBuiltFrom(part, hash)) continue
  process.stderr.write(`Building ${part.name} …\n`)
  const { status } = spawnSync(process.execPath, part.command, {
    cwd: ROOT,
    // Standard output belongs to the program that is started after this.
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
  })
  if (status !== 0) process.exit(1)
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  writeFileSync(recordOf(part), hash)
}

function recordOf({ name }: Part): string {
  return join(ROOT, 'dist', `${name}.sources`)
}

function isBuiltFrom(part: Part, hash: string): boolean {
  if (!existsSync(join(ROOT, 'dist', part.name)) || !existsSync(recordOf(part))) return false
  return readFileSync(recordOf(part), 'utf8') === hash
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of paths.flatMap(filesBelow)) {
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
