/**
 * Builds the browser tags of tag/ into dist/tag/ and holds them to their size.
 *
 * Writes souk.js and souk-merchant.js, the same bytes under a name that carries their hash (to be
 * cached for ever), souk-debug.js (the overlay, loaded on demand), and manifest.json with file
 * names, sizes and the SRI hash of each. Prints the sizes; exits 1 when a tag is over its budget.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { minify } from 'terser'

const ROOT = join(import.meta.dirname, '..')
const SOURCE = join(ROOT, 'tag')
const TARGET = join(ROOT, 'dist', 'tag')

interface TagFile {
  readonly source: string
  readonly name: string
  /** Bytes after gzip; null: loaded by few, on demand. */
  readonly budgetBytes: number | null
}

/** Every page of a publisher loads the first, every page of a shop the second. */
const TAGS: readonly TagFile[] = [
  { source: 'tag.ts', name: 'souk', budgetBytes: 4000 },
  { source: 'merchant-tag.ts', name: 'souk-merchant', budgetBytes: 2500 },
  { source: 'debug.ts', name: 'souk-debug', budgetBytes: null },
]

/** All evergreen browsers since 2021; older ones stop at the first line and keep their page. */
const LANGUAGE = 'es2021'

export interface TagEntry {
  /** The name that never changes, and the one that changes with the content. */
  readonly file: string
  readonly immutable_file: string
  readonly bytes: number
  readonly gzip_bytes: number
  readonly budget_gzip_bytes: number | null
  readonly integrity: string
}
export type TagManifest = Record<string, TagEntry>

/** Short names of `_properties`, shared by all tags: the overlay reads what the page tag keeps. */
let shortNames: Record<string, string | false> = {}

async function bundle({ source }: TagFile): Promise<string> {
  const result = await build({
    entryPoints: [join(SOURCE, source)],
    bundle: true,
    write: false,
    format: 'iife',
    target: LANGUAGE,
    minify: true,
    mangleProps: /^_[a-zA-Z]/,
    mangleCache: shortNames,
    legalComments: 'none',
    // Nothing in the tags depends on strict mode, which the compiler has checked already.
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } },
    logLevel: 'warning',
  })
  shortNames = result.mangleCache ?? shortNames
  const text = result.outputFiles[0]?.text ?? ''
  // A second pass by another minifier: it inlines what the first leaves (about 5 % after gzip).
  // "Unsafe" for objects with two different texts: templates become sums. The tags have none.
  // As many passes as still find something.
  const compress = { passes: 5, unsafe: true }
  const { code } = await minify(text, { ecma: 2021, compress, mangle: true })
  if (!code) throw new Error(`${source}: the minifier gave nothing`)
  return `${code}\n`
}

function write(tag: TagFile, code: string): TagEntry {
  const hash = createHash('sha384').update(code).digest()
  const immutableFile = `${tag.name}.${hash.toString('hex').slice(0, 16)}.js`
  writeFileSync(join(TARGET, `${tag.name}.js`), code)
  writeFileSync(join(TARGET, immutableFile), code)
  return {
    file: `${tag.name}.js`,
    immutable_file: immutableFile,
    bytes: Buffer.byteLength(code),
    gzip_bytes: gzipSync(code, { level: 9 }).length,
    budget_gzip_bytes: tag.budgetBytes,
    integrity: `sha384-${hash.toString('base64')}`,
  }
}

async function buildTags(): Promise<TagManifest> {
  const built: [TagFile, string][] = []
  for (const tag of TAGS) built.push([tag, await bundle(tag)])
  rmSync(TARGET, { recursive: true, force: true })
  mkdirSync(TARGET, { recursive: true })
  const manifest: TagManifest = {}
  for (const [tag, code] of built) manifest[`${tag.name}.js`] = write(tag, code)
  writeFileSync(join(TARGET, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

/** One line per tag, and whether every tag is within its budget. */
export function reportSizes(manifest: TagManifest): { lines: string[]; isWithinBudget: boolean } {
  let isWithinBudget = true
  const lines = Object.values(manifest).map((tag) => {
    const budget = tag.budget_gzip_bytes
    const isOver = budget !== null && tag.gzip_bytes > budget
    if (isOver) isWithinBudget = false
    const limit = budget === null ? 'no budget' : `budget ${budget}${isOver ? ', OVER' : ''}`
    return `${tag.file}: ${tag.gzip_bytes} bytes gzip (${limit}), ${tag.bytes} bytes minified`
  })
  return { lines, isWithinBudget }
}

if (import.meta.main) {
  const { lines, isWithinBudget } = reportSizes(await buildTags())
  console.log(lines.join('\n'))
  process.exitCode = isWithinBudget ? 0 : 1
}
