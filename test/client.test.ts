/** A client is generated from openapi.json and type-checked, as a user's project would do it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')
const GENERATOR = 'test/client-generator/node_modules/openapi-typescript/bin/cli.js'

/** Reads a named schema, an answer, and the body of a creation. */
const USER = `
import type { components, operations } from './client.ts'

type Campaign = components['schemas']['Campaign']
type Answer = operations['listCampaigns']['responses'][200]['content']['application/json']
export const states = (answer: Answer): string[] => answer.data.map((one: Campaign) => one.state)
`

const OPTIONS = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, target: 'es2022', module: 'esnext' },
    ...{ moduleResolution: 'bundler', allowImportingTsExtensions: true, types: [] },
  },
  files: ['user.ts'],
}

test('openapi-typescript generates a client without warnings, and it compiles', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'souk-client-'))
  t.after(() => rm(folder, { recursive: true }))
  const client = join(folder, 'client.ts')
  const run = (program: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, program), ...args], { cwd: ROOT, encoding: 'utf8' })

  const generated = run(GENERATOR, 'openapi.json', '--output', client)
  assert.equal(generated.status, 0, generated.stderr)
  assert.doesNotMatch(generated.stdout + generated.stderr, /warn|⚠/i)

  await writeFile(join(folder, 'user.ts'), USER)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(OPTIONS))
  const checked = run('node_modules/typescript/bin/tsc', '--project', folder)
  assert.equal(checked.stdout + checked.stderr, '')
})
