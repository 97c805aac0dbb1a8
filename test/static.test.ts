/** Types and lint as tests, which print what is wrong. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const PROJECTS = [
  'tsconfig.json',
  'tag/tsconfig.json',
  'tag/tsconfig.spec.json',
  'dashboard/tsconfig.json',
]

for (const project of PROJECTS) {
  test(`the types of ${project} are correct`, () => {
    passes('tsc', ['--noEmit', '-p', project])
  })
}

test('formatting and lint are clean', () => {
  passes('biome', ['check', '--error-on-warnings', '--colors=off', '.'])
})

function passes(program: string, args: readonly string[]): void {
  const path = join(ROOT, 'node_modules/.bin', program)
  const isWindows = process.platform === 'win32'
  const { status, stdout, stderr } = spawnSync(path, args, {
    cwd: ROOT,
    encoding: 'utf8',
    shell: isWindows,
  })
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`)
}
