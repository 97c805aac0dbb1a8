import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REASON, reasonName } from './reason.ts'
import { explainReason, REASONS_TOLD } from './reason-words.ts'

test('the reference has a sentence for every word that a report gives for not paying', () => {
  const { ok, ...unpaid } = REASON
  for (const code of Object.values(unpaid)) {
    const told = `${reasonName(code)}: ${explainReason(code)}`
    assert.ok(`${REASONS_TOLD}.`.includes(told.slice(0, -1)), told)
  }
  assert.ok(!REASONS_TOLD.includes(explainReason(ok)))
})
