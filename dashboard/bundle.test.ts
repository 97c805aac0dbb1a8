import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const BUILT = join(import.meta.dirname, '../dist/dashboard')
/** A page opens within about a second on a slow phone connection (1.6 Mbit/s). */
const FIRST_LOAD_BYTES_MAX = 180_000
/** A page or a part of it that loads later. */
const CHUNK_BYTES_MAX = 60_000

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
}

function readManifest(): Readonly<Record<string, Chunk>> {
  const path = join(BUILT, '.vite/manifest.json')
  assert.ok(existsSync(path), 'the dashboard is not built: npm run build')
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** The scripts that the browser loads before it can draw: the entry and its static imports. */
function firstScripts(manifest: Readonly<Record<string, Chunk>>): Set<string> {
  const files = new Set<string>()
  const add = (chunk: Chunk | undefined): void => {
    if (chunk === undefined || files.has(chunk.file)) return
    files.add(chunk.file)
    for (const name of chunk.imports ?? []) add(manifest[name])
  }
  add(manifest['index.html'])
  return files
}

const packedBytes = (file: string): number => statSync(join(BUILT, `${file}.gz`)).size

test('the first load stays within its budget of compressed script', () => {
  const files = [...firstScripts(readManifest())].filter((file) => file.endsWith('.js'))
  assert.ok(files.length > 0, 'the manifest names the entry')
  const sizes = files.map((file) => [file, packedBytes(file)] as const)
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
  assert.ok(total <= FIRST_LOAD_BYTES_MAX, `${total} bytes: ${JSON.stringify(sizes)}`)
})

test('each page loads as a small chunk of its own', () => {
  const manifest = readManifest()
  const first = firstScripts(manifest)
  const later = Object.values(manifest)
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.js') && !first.has(file))
  assert.ok(
    later.some((file) => file.includes('overview-page')),
    'pages are chunks',
  )
  const large = later.filter((file) => packedBytes(file) > CHUNK_BYTES_MAX)
  assert.deepEqual(large, [])
})
