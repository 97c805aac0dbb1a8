import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { VARIABLES } from '../src/config.ts'

const README = join(import.meta.dirname, '../README.md')

test('the README lists every configuration variable, with its default and help', async () => {
  const readme = await readFile(README, 'utf8')
  const rows = VARIABLES.map(
    ([name, value, help]) => `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${help} |`,
  )
  assert.deepEqual(readme.match(/^\| `[A-Z_]+` \|.*$/gm), rows)
})

test('the files that the README names exist', async () => {
  const readme = await readFile(README, 'utf8')
  const paths = [...readme.matchAll(/\| ((?:src|tag)\/[\w./-]*) \|/g)].map(
    (match) => match[1] ?? '',
  )
  assert.ok(paths.length > 10)
  for (const path of paths) await readFile(join(README, '..', path)).catch(ignoreFolder)
})

function ignoreFolder(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EISDIR') throw error
}
