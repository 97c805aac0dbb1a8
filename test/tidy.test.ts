/**
 * The house rules that a program can check (CONTRIBUTING.md). Each failure names the file, the rule
 * and the fix, so that reviews are about design.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { findJsxText, findNames, findProse, partsOfName } from './support/prose.ts'
import {
  ROOT,
  readDocuments,
  readSourceFiles,
  readSqlFiles,
  type SourceFile,
} from './support/source-files.ts'

const files = readSourceFiles()
const source = files.filter((file) => file.path.startsWith('src/'))
const product = source.filter((file) => !file.isTest)

const README_LINES_MAX = 26

/** Data flows down: a folder imports only from itself and from folders to its left. */
const LAYERS = [
  ...['platform', 'accounts', 'catalog', 'events', 'prediction', 'evaluation', 'budgets'],
  ...['campaigns', 'links', 'matching', 'auction', 'redirect', 'orders', 'ledger', 'reconcile'],
  ...[
    'fold',
    'stats',
    'networks',
    'webhooks',
    'reports',
    'node',
    'check-page',
    'jobs',
    'operator',
    'server',
    'demo',
  ],
  ...['main.ts', 'cli'],
]

test('a folder imports only from the folders to its left', () => {
  const layerOf = (path: string) => path.split('/')[1] ?? ''
  report(source, (file) => {
    const own = LAYERS.indexOf(layerOf(file.path))
    if (own === -1) return [`its folder is not in the list of layers: ${LAYERS.join(' < ')}`]
    return file.imports
      .filter((path) => path.startsWith('src/') && LAYERS.indexOf(layerOf(path)) > own)
      .map((path) => `imports ${path}, which lies above it; append to the log, or move the thing`)
  })
})

test('every folder of src opens with a short README that names files it has', () => {
  const folders = [...new Set(source.map(({ path }) => path.split('/').slice(0, 2).join('/')))]
  const faults = folders
    .filter((folder) => !folder.endsWith('.ts'))
    .flatMap((folder) => {
      const path = join(ROOT, folder, 'README.md')
      if (!existsSync(path)) return [`${folder}: has no README.md`]
      const text = readFileSync(path, 'utf8')
      const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = '']) => name)
      const isThere = (name: string) =>
        existsSync(join(ROOT, folder, name)) || existsSync(join(ROOT, name))
      return [
        ...(text.split('\n').length > README_LINES_MAX ? [`${folder}: its README is long`] : []),
        ...named.filter((name) => !isThere(name)).map((name) => `${folder}: no file ${name}`),
      ]
    })
  assert.deepEqual(faults, [])
})

test('no file imports itself through others', () => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  report(files, (file) => {
    const cycle = pathTo(file.path, file, byPath)
    return cycle === null ? [] : [`is in a cycle: ${cycle.join(' → ')}`]
  })
})

test('no folder of src imports itself through others', () => {
  const byFolder = Map.groupBy(source, ({ path }) => dirname(path))
  const nodes = [...byFolder].map(([path, members]): Node => {
    const imports = members.flatMap((file) => file.imports.map((name) => dirname(name)))
    return { path, imports: imports.filter((name) => name !== path && byFolder.has(name)) }
  })
  const byPath = new Map(nodes.map((node) => [node.path, node]))
  const cycles = nodes.flatMap((node) => pathTo(node.path, node, byPath)?.join(' → ') ?? [])
  assert.deepEqual(cycles, [])
})

test('every file is reached from a program, a test or the build', () => {
  const roots = files.filter(({ path, isTest }) => isTest || /^(scripts|bin|bench)\//.test(path))
  const entries = ['src/cli/souk.ts', 'src/main.ts', 'tag/', 'dashboard/']
  const productRoots = files.filter(
    ({ path }) => entries.some((entry) => path.startsWith(entry)) || /^(scripts|bin)\//.test(path),
  )
  const reached = reachedFrom(roots)
  const reachedByProduct = reachedFrom(productRoots)
  report(files, ({ path, isTest }) => {
    if (path.startsWith('src/') && !isTest && !reachedByProduct.has(path)) {
      return ['is an orphan: no program reaches it. Use it, or delete it and its test']
    }
    const isOrphan = !reached.has(path) && !entries.some((entry) => path.startsWith(entry))
    return isOrphan ? ['is an orphan: nothing imports it'] : []
  })
})

test('a file is named after its one subject, in kebab-case', () => {
  const banned = /^(utils?|helpers?|common|shared|lib|misc|stuff|index|types|constants)$/
  report(files, ({ path }) => {
    const parts = path.replace(/(\.(test|spec|config))?\.(ts|tsx|mjs)$/, '').split('/')
    return parts.flatMap((part) => [
      ...(banned.test(part) ? [`"${part}" says nothing: a domain word is missing`] : []),
      ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part) ? [] : [`"${part}" is not kebab-case`]),
    ])
  })
})

const FILE_LINES_WARNED = 600
const FUNCTION_LINES_MAX = 60
const COLUMNS_MAX = 100

test('functions and lines stay short; a long file is only a warning', (t) => {
  for (const { path, lines } of files) {
    const count = lines.length - 1
    if (count > FILE_LINES_WARNED) t.diagnostic(`${path} has ${count} lines: has it one subject?`)
  }
  report(files, (file) => [
    ...file.lines.flatMap((line, index) =>
      isTooWide(line) ? [`line ${index + 1} has ${line.length} columns`] : [],
    ),
    ...longFunctions(file),
  ])
})

test('the environment is read in src/node/config.ts and nowhere else', () => {
  report(
    source.filter(({ path }) => path !== 'src/node/config.ts'),
    ({ text }) => (/\bprocess\.env\b/.test(text) ? ['reads process.env: pass the config on'] : []),
  )
})

/** SQL is in stores and folds; each of the further files owns a table or is one query. */
const SQL_FILES = [/(^|-)store\.ts$/, /^fold-/, /^event-log-/, /-sql\.ts$/]
const MORE_SQL_FILES = [
  'src/orders/known-orders.ts',
  'src/orders/usual-value.ts',
  'src/auction/market.ts',
  'src/auction/receipt-queue.ts',
  'src/budgets/budget-account.ts',
  'src/budgets/book-spend.ts',
  'src/demo/load.ts',
  'src/events/hash-keys.ts',
  'src/events/partitions.ts',
  'src/reconcile/check-totals.ts',
  'src/reconcile/reconcile.ts',
  'src/fold/figures.ts',
]

test('SQL is only in stores, folds and the event log', () => {
  const statement = /sql`\s*(select|insert|update|delete|with|create|drop|truncate|lock|copy)\b/i
  report(
    product.filter(({ path }) => !path.startsWith('src/platform/')),
    ({ path, text }) => {
      const isAllowed =
        MORE_SQL_FILES.includes(path) || SQL_FILES.some((name) => name.test(basename(path)))
      return statement.test(text) && !isAllowed ? ['holds SQL: move it to a store'] : []
    },
  )
})

test('commands change the database through operations, never by a store', () => {
  const fromStore = /import \{([^}]*)\} from '[^']*store\.ts'/g
  const change =
    /^(insert|update|upsert|delete|drop|set|save|keep|add|remove|create|enable|disable|replay|write)[A-Z]/
  report(
    product.filter(({ path }) => path.startsWith('src/cli/')),
    ({ text }) =>
      [...text.matchAll(fromStore)]
        .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
        .filter((name) => change.test(name))
        .map((name) => `calls ${name}: make it an operation (src/accounts/operation.ts)`),
  )
})

test('only routes and the server know fastify', () => {
  const isRoute =
    /(routes|docs|require-key|raw-body)\.ts$|^src\/platform\/http\/(http-server|validation)\.ts$/
  report(product, ({ path, packages }) =>
    packages.some((name) => /^(fastify|@fastify\/)/.test(name)) && !isRoute.test(path)
      ? ['imports fastify: take plain data and return plain data']
      : [],
  )
})

test('only the files that compose the app import routes', () => {
  report(product, ({ path, imports }) =>
    imports
      .filter((name) => /(^|[/-])routes\.ts$/.test(name) && dirname(name) !== dirname(path))
      .filter(() => !path.startsWith('src/server/'))
      .map((name) => `imports ${name}: only the files of src/server/ may`),
  )
})

test('properties use fast-check as test/support/fast-check.ts sets it up', () => {
  report(files, ({ path, packages }) =>
    packages.includes('fast-check') && path !== 'test/support/fast-check.ts'
      ? [
          'imports fast-check itself, which keeps lists and texts short: import test/support/fast-check.ts',
        ]
      : [],
  )
})

test('there are no barrels', () => {
  report(files, ({ text }) => {
    const isOnlyExports = text
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      .replace(/export\s+(type\s+)?(\*|\{[^}]*\})(\s+as\s+\w+)?\s+from\s+'[^']+'/g, '')
      .trim()
    const isStar = /^export \* from/m.test(text)
    return isOnlyExports === '' || isStar ? ['re-exports: import the file that has the thing'] : []
  })
})

test('a file that a comment or a document cites by its path exists', () => {
  const cited =
    /(?<![\w./-])(?:src|test|docs|tag|dashboard|bench|scripts)\/[\w./-]+\.(?:ts|tsx|md|json|sql)\b/g
  const texts = [...files, ...readDocuments()]
  const faults = texts.flatMap(({ path, text }) =>
    [...text.matchAll(cited)]
      .map(([name]) => name)
      .filter((name) => !existsSync(join(ROOT, name)))
      .map((name) => `${path}: cites ${name}, which does not exist`),
  )
  assert.deepEqual(faults, [])
})

test('no unfinished work and no debugging code is left behind', () => {
  const marks = new RegExp(`\\b(${['TO', 'DO'].join('')}|FIX${'ME'}|HA${'CK'})\\b`)
  report(files, ({ path, text, isTest }) => [
    ...(marks.test(text) ? ['has a note of unfinished work: finish it or open an issue'] : []),
    ...(/^\s*debugger$/m.test(text) ? ['stops in the debugger'] : []),
    ...(isTest && /\b(test|it|describe)\.(only|todo)\(/.test(text) ? ['leaves tests out'] : []),
    ...(path.startsWith('src/') && /\bconsole\.\w+\(/.test(text)
      ? ['writes to the console: use the log, or the command line’s print']
      : []),
  ])
})

test('nothing silences the compiler', () => {
  report(files, ({ text }) => [
    ...(/@ts-(ignore|nocheck|expect-error)/.test(text) ? ['silences the compiler'] : []),
    ...(/^\s*(export )?(const )?enum\b/m.test(text) ? ['has an enum: use a union'] : []),
  ])
})

test('every dependency is pinned, used, and has its reason in CONTRIBUTING.md', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const all: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies }
  const used = new Set(files.flatMap((file) => file.packages.map(packageName)))
  const reasons = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  const faults = Object.entries(all).flatMap(([name, version]) => [
    ...(/^(\d+\.\d+\.\d+|file:)/.test(version)
      ? []
      : [`${name}: ${version} is not an exact version`]),
    ...(used.has(name) || isUsedByName(name) ? [] : [`${name}: nothing imports it`]),
    ...(reasons.includes(name) ? [] : [`${name}: CONTRIBUTING.md gives no reason for it`]),
  ])
  assert.deepEqual(faults, [])
})

test("the program's imports are installed without development tools", () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const faults = files
    .filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .flatMap(({ path, packages }) =>
      packages
        .map(packageName)
        .filter((name) => !name.startsWith('node:') && !LOADED_IF_THERE.includes(name))
        .filter((name) => !Object.hasOwn(dependencies, name))
        .map((name) => `${path}: ${name} is a devDependency`),
    )
  assert.deepEqual(faults, [])
})

/** Words that newcomers had to decode; CONTRIBUTING.md (Language) names the term for each. */
const BANNED_WORDS = new RegExp(
  `\\b(${[
    'tell|tells|telling|told|whoever|whom|strangers?|patience|dearer|begun|anew|mend(s|ed)?|in vain',
    'taken back|(came|comes|come) back|(is|are) kept|who asks|stands in|thirsty|wrong usage',
    'economics \\d|decisions \\d|interface (section )?\\d',
  ].join('|')})\\b|\\bof (its|their) own(?=[.,;:)]|\\s*$)`,
  'i',
)
/** Files whose sentences may use one of these words, and why. */
const BANNED_WORDS_ALLOWED: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'its table names the words',
  'src/demo/network.ts': 'an article of the demo, written like a magazine',
  'test/tidy.test.ts': 'names the words',
}

test('sentences use the terms of CONTRIBUTING.md, and not the words that they replace', () => {
  const folders = /^(src|dashboard|tag|bench|scripts|test)\//
  const sources = files
    .filter(({ path }) => folders.test(path))
    .flatMap(({ path, text }) =>
      [...findProse(text), ...(path.endsWith('.tsx') ? findJsxText(text) : [])].map((prose) => ({
        path,
        ...prose,
      })),
    )
  const documents = readDocuments()
    .filter(({ path }) => path.endsWith('.md') && !path.startsWith('docs/decisions/'))
    .flatMap(({ path, text }) =>
      text.split('\n').map((line, at) => ({ path, line: at + 1, text: line })),
    )
  const faults = [...sources, ...documents]
    .filter(({ path }) => !Object.hasOwn(BANNED_WORDS_ALLOWED, path))
    .flatMap(({ path, line, text }) => {
      const [word] = BANNED_WORDS.exec(text) ?? []
      return word === undefined ? [] : [`${path}:${line}: says "${word}"`]
    })
  assert.deepEqual(faults, [])
})

/** Words that no name contains either, in TypeScript, in SQL and in the names of files. */
const BANNED_NAME_PARTS =
  /^(tells?|told|tellers?|telling|retell|retold|untold|patience|pulse|outlooks?|lessons?|likeliest|thirsty?|dearer|anew|begun)$/
/** Names that contain one of these words, and why. */
const BANNED_NAME_PARTS_ALLOWED: Readonly<Record<string, string>> = {
  not_begun: 'a state in the API',
  Outlook: 'a mail program',
  MacOutlook: 'a mail program',
}

test('names use the terms of CONTRIBUTING.md as well', () => {
  const named = [...files, ...readSqlFiles()].filter(
    ({ path }) => !Object.hasOwn(BANNED_WORDS_ALLOWED, path),
  )
  const faults = named.flatMap(({ path, text }) => {
    const names = [...findNames(text), basename(path)]
    return [...new Set(names)]
      .filter((name) => !Object.hasOwn(BANNED_NAME_PARTS_ALLOWED, name))
      .filter((name) => partsOfName(name).some((part) => BANNED_NAME_PARTS.test(part)))
      .map((name) => `${path}: the name ${name}`)
  })
  assert.deepEqual(faults, [])
})

test('the lockfile is complete, because npm ci refuses an incomplete one', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const names = new Set(
    Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, '')),
  )
  const faults = Object.entries<Record<string, Record<string, string>>>(lock.packages).flatMap(
    ([path, { dependencies = {}, optionalDependencies = {} }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !names.has(name))
        .map((name) => `${path}: ${name} is missing; take a version that the registry has whole`),
  )
  assert.deepEqual(faults, [])
})

/** Commands that need one report how to install it. */
const LOADED_IF_THERE = ['playwright-core']
const PROGRAMS = ['typescript', '@biomejs/biome', 'vite', 'tailwindcss', 'souk-client-generator']

/** Programs and types are used without an import. */
function isUsedByName(name: string): boolean {
  return name.startsWith('@types/') || PROGRAMS.includes(name)
}

function packageName(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Fails with every fault of every file at once. */
function report(
  over: readonly SourceFile[],
  faultsOf: (file: SourceFile) => readonly string[],
): void {
  assert.ok(over.length > 0, 'there is something to check')
  const faults = over.flatMap((file) => faultsOf(file).map((fault) => `${file.path}: ${fault}`))
  assert.equal(faults.length, 0, `\n  ${faults.join('\n  ')}\n`)
}

function reachedFrom(roots: readonly SourceFile[]): Set<string> {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set(roots.map((file) => file.path))
  for (const path of reached) {
    // A set also yields what is added during the loop.
    for (const name of byPath.get(path)?.imports ?? []) reached.add(name)
  }
  return reached
}

/** A file or a folder, and what it imports. */
type Node = Pick<SourceFile, 'path' | 'imports'>

/** The shortest path from the imports of a file or folder back to it. */
function pathTo(target: string, from: Node, byPath: ReadonlyMap<string, Node>): string[] | null {
  const cameFrom = new Map<string, string>(from.imports.map((name) => [name, from.path]))
  for (const path of cameFrom.keys()) {
    if (path === target) {
      const way = [target]
      let step = cameFrom.get(target)
      while (step !== undefined && step !== target) {
        way.unshift(step)
        step = cameFrom.get(step)
      }
      return [target, ...way]
    }
    for (const name of byPath.get(path)?.imports ?? []) {
      if (!cameFrom.has(name)) cameFrom.set(name, path)
    }
  }
  return null
}

/** A string, a pattern, a URL and a test's name may stay in one piece, however long. */
function isTooWide(line: string): boolean {
  if (line.length <= COLUMNS_MAX) return false
  const isComment = /^\s*(\/\/|\/?\*)/.test(line)
  const pieces = isComment ? /https?:\/\/\S+/g : /'[^']*'|`[^`]*`|"[^"]*"|\/(\\.|[^/])+\/\w*/g
  return line.replace(pieces, '').length > COLUMNS_MAX
}

/**
 * Functions over the limit. Because of the formatter's indentation, a function ends at the first
 * later line that closes a brace at the same depth.
 */
function longFunctions({ lines, isTest }: SourceFile): string[] {
  if (isTest) return [] // A test's steps read best in one piece.
  const head = /(=>|\)|\)(: [^=]*)?|\}\)(: .*)?) \{$/
  const control = /^\s*(\} )?(if|else|for|while|switch|catch|try|do)\b/
  return lines.flatMap((line, index) => {
    if (!head.test(line) || control.test(line)) return []
    const indent = line.slice(0, line.length - line.trimStart().length)
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${indent}}`))
    const length = end - index + 1
    return length > FUNCTION_LINES_MAX ? [`line ${index + 1}: a function of ${length} lines`] : []
  })
}
