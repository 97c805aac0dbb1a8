/** The repository's source files, read once for the tests of house rules. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SourceFile {
  readonly path: string // From the root, with slashes.
  readonly text: string
  readonly lines: readonly string[]
  readonly isTest: boolean
  /** Repository files it imports, types included. */
  readonly imports: readonly string[]
  /** Packages and node modules it imports. */
  readonly packages: readonly string[]
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const FOLDERS = ['src', 'test', 'tag', 'dashboard', 'bench', 'scripts', 'bin']
const CODE = /\.(ts|tsx|mjs)$/
// `import … from '…'`, `export … from '…'`, `import '…'` and `import('…')`.
const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)'([^']+)'/g

export function readSourceFiles(): SourceFile[] {
  return FOLDERS.flatMap((folder) => filesBelow(folder))
    .filter((path) => CODE.test(path))
    .map(readSourceFile)
}

/** The documents of the repository, and the README of each folder. */
export function readDocuments(): Pick<SourceFile, 'path' | 'text'>[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'))
  const paths = [...top, ...['docs', ...FOLDERS].flatMap((folder) => filesBelow(folder))]
  return paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

/** Migrations and the SQL of reconciliation. */
export function readSqlFiles(): Pick<SourceFile, 'path' | 'text'>[] {
  return ['migrations', 'src']
    .flatMap((folder) => filesBelow(folder))
    .filter((path) => path.endsWith('.sql'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const found = [...text.matchAll(IMPORT)].map((match) => match[1] ?? '')
  return {
    path,
    text,
    lines: text.split('\n'),
    isTest: path.startsWith('test/') || /\.(test|spec)\.tsx?$/.test(basename(path)),
    imports: found.filter((name) => name.startsWith('.')).map((name) => resolveFrom(path, name)),
    packages: found.filter((name) => !name.startsWith('.')),
  }
}

function resolveFrom(path: string, name: string): string {
  return join(dirname(path), name).replaceAll('\\', '/')
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll('\\', '/'))
      .sort()
  } catch {
    return [] // The folder does not exist yet.
  }
}
