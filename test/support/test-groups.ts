/**
 * Which test files share a process.
 *
 * Starting a process and loading its modules costs about half a second of processor time per file,
 * and a whole second with those of the service. So files run together that only compute, use a
 * database, or start the service in their process. A file runs alone if it uses a browser or other
 * programs, or changes its process for all others.
 */
import { dirname } from 'node:path'
import { readSourceFiles, type SourceFile } from './source-files.ts'

export interface TestGroup {
  readonly name: string
  readonly files: readonly string[]
}

/** With more files in one process, the other processes would idle at the end. */
const FILES_MAX = { service: 4, database: 6, plain: 20 }

/** A test that reaches one of these starts other programs. */
const STARTS_PROGRAMS = ['test/support/souk.ts', 'tag/testing/browser.ts']
const STARTS_SERVICE = ['test/support/app.ts', 'test/support/management.ts']
const USES_DATABASE = 'test/support/database.ts'
/** Measures its process, or changes something that all of it reads. */
const CHANGES_PROCESS = /process\.env\.\w+ = |process\.memoryUsage|heapUsed|mock\.timers/

/** Groups in the order in which they should start: the longest first. */
export function groupTestFiles(paths: readonly string[]): TestGroup[] {
  const byPath = new Map(readSourceFiles().map((file) => [file.path, file]))
  const kinds = Map.groupBy(paths, (path) => kindOf(path, byPath))
  const alone = (kinds.get('alone') ?? []).map((path) => ({ name: path, files: [path] }))
  return [
    ...alone,
    ...gather('service', kinds.get('service') ?? []),
    ...gather('database', kinds.get('database') ?? []),
    ...gather('plain', kinds.get('plain') ?? []),
  ]
}

type Kind = 'alone' | 'service' | 'database' | 'plain'

function kindOf(path: string, byPath: ReadonlyMap<string, SourceFile>): Kind {
  const reached = new Set([path])
  // A set also yields what is added to it on the way.
  for (const name of reached) {
    for (const imported of byPath.get(name)?.imports ?? []) reached.add(imported)
  }
  const isAlone =
    path.endsWith('.spec.ts') ||
    STARTS_PROGRAMS.some((name) => reached.has(name)) ||
    CHANGES_PROCESS.test(byPath.get(path)?.text ?? '')
  if (isAlone) return 'alone'
  if (STARTS_SERVICE.some((name) => reached.has(name))) return 'service'
  return reached.has(USES_DATABASE) ? 'database' : 'plain'
}

function gather(kind: keyof typeof FILES_MAX, paths: readonly string[]): TestGroup[] {
  const folders = Map.groupBy(paths, (path) => (kind === 'plain' ? '' : dirname(path)))
  return [...folders].flatMap(([folder, files]) => {
    const count = Math.ceil(files.length / FILES_MAX[kind])
    return Array.from({ length: count }, (_, at) => ({
      name: `${folder} ${kind} ${at + 1}`,
      files: files.filter((_file, index) => index % count === at),
    }))
  })
}
