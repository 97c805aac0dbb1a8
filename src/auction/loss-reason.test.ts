import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LADDER, LOSS } from './loss-code.ts'
import { lossReason } from './loss-reason.ts'

test('docs/spec/auction.md lists every check in its order, with its code and name', () => {
  const page = readFileSync(new URL('../../docs/spec/auction.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/^\| .+ \| (\d+) \| `(\w+)` \|$/gm)]
  assert.deepEqual(
    listed.map(([, code, word]) => [Number(code), word]),
    LADDER.filter((code) => code !== LOSS.noCandidates).map((code) => [
      code,
      lossReason(code).word,
    ]),
  )
})
