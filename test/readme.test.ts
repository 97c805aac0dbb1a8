import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { VARIABLES } from '../src/node/config.ts'

const ROOT = join(import.meta.dirname, '..')

test('docs/operations.md lists every configuration variable, with its default and help', async () => {
  const page = await readFile(join(ROOT, 'docs/operations.md'), 'utf8')
  const rows = VARIABLES.map(
    ([name, value, help]) => `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${help} |`,
  )
  assert.deepEqual(page.match(/^\| `[A-Z_]+` \|.*$/gm), rows)
})

test('the files that README, ARCHITECTURE and the documents name exist', async () => {
  const pages = ['README.md', 'ARCHITECTURE.md', 'docs/operations.md', 'docs/performance.md']
  for (const page of pages) {
    const text = await readFile(join(ROOT, page), 'utf8')
    const named = text.matchAll(/[`| ]((?:src|tag|test|scripts)\/[\w./-]*)[`| ]/g)
    const linked = text.matchAll(/\]\((?!https?:)([\w./-]+)\)/g)
    const paths = [
      ...[...named].map(([, path = '']) => join(ROOT, path)),
      ...[...linked].map(([, path = '']) => join(ROOT, page, '..', path)),
    ]
    for (const path of paths) assert.ok(existsSync(path), `${page} names ${path}`)
    if (page === 'ARCHITECTURE.md') assert.ok(paths.length > 30)
  }
})
