import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAmpLabelOf } from './amp-label.ts'

const LONG =
  'itwasadarkandstormynight.therainfellintorrents.exceptatoccasionalintervalswhenitwascheckedby.aviolentgustofwindwhichsweptupthestreets.com'
const EGYPT = 'xn--4gbrim.xn----rmckbbajlc6dj7bxne2c.xn--wgbh1c'

test("every form of an AMP cache's label is recognized as its publisher's", () => {
  // Examples from the format's documents and tests, and hosts below a domain.
  for (const [domain, label] of [
    ['example.com', 'example-com'],
    ['example.com', 'www-example-com'],
    ['example.com', 'a--b-example-com'],
    ['hello-world.com', 'hello--world-com'],
    ['hello--world.com', 'hello----world-com'],
    ['en-us.example.com', '0-en--us-example-com-0'],
    ['example.com', '0-en--us-example-com-0'],
    ['xn--bcher-kva.ch', 'xn--bcher-ch-65a'],
    ['xn--bcher-kva.example', 'xn--bcher-example-wob'],
    [EGYPT, 'xn-------i5fvcbaopc6fkc0de0d9jybegt6cd'],
    [LONG, 'dgz4cnrxufaulnwku4ow5biptyqnenjievjht56hd7wqinbdbteq'],
    [`hello.${EGYPT}`, 'a6h5moukddengbsjm77rvbosevwuduec2blkjva4223o4bgafgla'],
  ] as const) {
    assert.ok(isAmpLabelOf(['other.example', domain], label), `${domain} ${label}`)
  }
})

test("another host's label is not recognized", () => {
  for (const label of [
    'evil--daily-example',
    'daily-example-evil-example',
    'dailyexample',
    'daily--example',
    '0-daily-example-0',
    '0-en--us-evil-example-0',
    'xn--daily-example-zzzzzz',
    'dgz4cnrxufaulnwku4ow5biptyqnenjievjht56hd7wqinbdbteq',
    '',
  ]) {
    assert.ok(!isAmpLabelOf(['daily.example'], label), label)
  }
})
