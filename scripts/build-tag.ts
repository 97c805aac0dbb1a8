/**
 * Builds the browser tags of tag/ into dist/tag/ and checks their size.
 *
 * Writes souk.js and souk-merchant.js, each also under a name with its content hash (to be cached
 * for a year), souk-debug.js (the overlay, loaded on demand), and manifest.json with the file
 * names, sizes and SRI hashes. Prints the sizes and exits 1 when a tag exceeds its budget.
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
  /** Bytes after gzip; null for a file loaded rarely and on demand. */
  readonly budgetBytes: number | null
}

/** Every publisher page loads the first tag, every shop page the second. */
const TAGS: readonly TagFile[] = [
  { source: 'tag.ts', name: 'souk', budgetBytes: 4600 },
  { source: 'merchant-tag.ts', name: 'souk-merchant', budgetBytes: 2800 },
  { source: 'debug.ts', name: 'souk-debug', budgetBytes: null },
]

/**
 * All evergreen browsers since 2021. Older ones fail at the first line and leave the page
 * unchanged.
 */
const LANGUAGE = 'es2021'

export interface TagEntry {
  /** The stable name, and the name that changes with the content. */
  readonly file: string
  readonly immutable_file: string
  readonly bytes: number
  readonly gzip_bytes: number
  readonly budget_gzip_bytes: number | null
  readonly integrity: string
}
export type TagManifest = Record<string, TagEntry>

/**
 * Short names of `_properties`, shared by all tags, because the overlay reads the page tag's state.
 */
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
    // The tags do not depend on strict mode, and the compiler has checked them in it.
    tsconfigRaw: { compilerOptions: { alwaysStrict: false } },
    logLevel: 'warning',
  })
  shortNames = result.mangleCache ?? shortNames
  const text = result.outputFiles[0]?.text ?? ''
  // A second minifier inlines what the first leaves (about 5 % after gzip). "Unsafe" turns
  // templates into sums, which differs only for objects with two string forms; the tags have none.
  // It runs passes until nothing changes.
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
