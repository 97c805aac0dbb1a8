/**
 * Each rule of the interface (sentences.json), and each decision where it is silent
 * (decisions.json), names its test. A rule without a test, or a missing test, fails here.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../support/source-files.ts'

interface Sentences {
  /** The number of rules per section when it was last read; none may get lost. */
  readonly counts: Readonly<Record<string, number>>
  readonly sentences: readonly {
    readonly section: string
    readonly sentence: string
    readonly file: string
    readonly test: string
  }[]
}

const read = (name: string): Sentences =>
  JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
const documents = [read('sentences.json'), read('decisions.json')]
const [{ counts }] = documents as [Sentences, Sentences]
// `test('name'`, with any quotes, also on the next line.
const TEST_NAME = /\btest\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g

function testNamesOf(file: string): Set<string> {
  const found = readFileSync(join(ROOT, file), 'utf8').matchAll(TEST_NAME)
  return new Set([...found].map(([, , name = '']) => name.replaceAll(/\\(.)/g, '$1')))
}

test('every rule of the interface, and every decision, names an existing test', () => {
  const names = new Map<string, Set<string>>()
  for (const { section, sentence, file, test: name } of documents.flatMap((d) => d.sentences)) {
    if (!names.has(file)) names.set(file, testNamesOf(file))
    assert.ok(names.get(file)?.has(name), `${section} ${sentence}: ${file} has no test "${name}"`)
  }
})

test('no section has lost a rule, and none is listed twice', () => {
  for (const { counts, sentences } of documents) {
    for (const [section, count] of Object.entries(counts)) {
      const rules = sentences.filter((rule) => rule.section === section)
      assert.ok(rules.length >= count, `section ${section}: ${rules.length} rules of ${count}`)
      assert.equal(new Set(rules.map(({ sentence }) => sentence)).size, rules.length, section)
    }
    const known = new Set(Object.keys(counts))
    assert.deepEqual(
      sentences.filter(({ section }) => !known.has(section)),
      [],
    )
  }
})

test('sections 1 to 9 of the interface are all covered, except 3, which has no rule', () => {
  const chapters = new Set(Object.keys(counts).map((section) => section.split('.')[0]))
  assert.deepEqual([...chapters].sort(), ['1', '2', '4', '5', '6', '7', '8', '9'])
})
