/**
 * Builds the browser parts, tags and dashboard, into dist/.
 *
 * A part is stale if its sources or the lockfile changed: their hash is stored beside the build.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import * as files from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FileLock, takeFileLock } from '../platform/files/file-lock.ts'

const ROOT = join(import.meta.dirname, '../..')
const DIST = join(ROOT, 'dist')
/** When several processes of one clone start together, one builds and the others wait this long. */
const BUILD_MS = 120_000
const POLL_MS = 100

interface Part {
  readonly name: string
  readonly sources: readonly string[]
  readonly command: readonly string[]
}

// A start has one screen for its important messages.
const QUIETLY = ['--emptyOutDir', '--logLevel', 'warn']
const VITE = 'node_modules/vite/bin/vite.js'
const PARTS: readonly Part[] = [
  {
    name: 'tag',
    sources: ['tag', 'scripts/build-tag.ts'],
    command: ['scripts/build-tag.ts'],
  },
  {
    name: 'dashboard',
    // The documentation is built from sources in other folders.
    sources: [
      'dashboard',
      'docs',
      'tag/README.md',
      'CHANGELOG.md',
      'SECURITY.md',
      'openapi.json',
      'src/platform/errors/api-errors.ts',
      'src/platform/text/html.ts',
      'src/webhooks',
    ],
    command: [VITE, 'build', 'dashboard', '--outDir', '../dist/dashboard', ...QUIETLY],
  },
]

export interface BuildOptions {
  readonly isOnlyIfStale: boolean
  /** Aborts the build, because a start that builds first may receive a stop signal. */
  readonly signal?: AbortSignal
}

/** Builds every part, or only stale ones. Throws if a build fails. */
export async function buildBrowserParts({ isOnlyIfStale, signal }: BuildOptions): Promise<void> {
  const isDue = (part: Part) => !isOnlyIfStale || !isBuilt(part)
  if (!PARTS.some(isDue)) return
  files.mkdirSync(DIST, { recursive: true })
  const lock = await takeBuildLock(signal)
  try {
    for (const part of PARTS.filter(isDue)) await build(part, signal)
  } finally {
    lock.release()
  }
}

async function takeBuildLock(signal: AbortSignal | undefined): Promise<FileLock> {
  const untilMs = performance.now() + BUILD_MS
  for (;;) {
    const lock = takeFileLock(join(DIST, 'build.lock'))
    if (lock !== null) return lock
    if (performance.now() > untilMs) throw new Error(`another process builds ${DIST} for too long`)
    await sleep(POLL_MS, undefined, { signal })
  }
}

async function build(part: Part, signal: AbortSignal | undefined): Promise<void> {
  const hash = hashOf(part)
  process.stderr.write(`Building ${part.name} …\n`)
  // Otherwise an aborted build would pass for the previous one.
  files.rmSync(recordOf(part), { force: true })
  const builder = spawn(process.execPath, part.command, {
    cwd: ROOT,
    // Standard output belongs to the program that starts afterwards.
    stdio: ['ignore', process.stderr.fd, process.stderr.fd],
    signal,
  })
  const failed = (cause?: unknown) => new Error(`${part.name} could not be built`, { cause })
  const [status] = await once(builder, 'exit').catch((cause) => {
    throw failed(cause)
  })
  if (status !== 0) throw failed()
  files.writeFileSync(recordOf(part), hash)
}

function recordOf({ name }: Part): string {
  return join(DIST, `${name}.sources`)
}

function isBuilt(part: Part): boolean {
  if (!files.existsSync(join(DIST, part.name)) || !files.existsSync(recordOf(part))) return false
  return files.readFileSync(recordOf(part), 'utf8') === hashOf(part)
}

function hashOf({ sources }: Part): string {
  const hash = createHash('sha256')
  for (const path of [...sources, 'package-lock.json'].flatMap(filesBelow)) {
    hash
      .update(`${path}\0`)
      .update(files.readFileSync(join(ROOT, path)))
      .update('\0')
  }
  return hash.digest('hex')
}

function filesBelow(path: string): string[] {
  const full = join(ROOT, path)
  if (files.statSync(full).isFile()) return [path]
  const entries = files.readdirSync(full, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort()
}
