import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REASON, reasonName } from './reason.ts'
import { explainReason, REASONS_DESCRIPTION } from './reason-words.ts'

test('the reference has a sentence for every word that a report gives for not paying', () => {
  const { ok, ...unpaid } = REASON
  for (const code of Object.values(unpaid)) {
    const sentence = `${reasonName(code)}: ${explainReason(code)}`
    assert.ok(`${REASONS_DESCRIPTION}.`.includes(sentence.slice(0, -1)), sentence)
  }
  assert.ok(!REASONS_DESCRIPTION.includes(explainReason(ok)))
})
