/**
 * How each answer of a consent tool is interpreted; consent.spec.ts tries some of them on pages.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchConsent } from './consent.ts'
import type { PageSettings } from './settings.ts'

type Tool = readonly unknown[] | 'broken'

interface Page {
  readonly gpc?: boolean
  /** What each tool answers at once, in order; an empty list: nothing. */
  readonly tcf?: Tool
  readonly gpp?: Tool
  readonly settings?: PageSettings
}

/** A reader on such a page: their choice after a while, and the tools' later answers. */
function open(t: TestContext, { gpc, tcf, gpp, settings = {} }: Page) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const listeners: Record<string, (word: unknown) => void> = {}
  const tool = (name: string, words: Tool | undefined) =>
    words &&
    ((command: string, ...rest: unknown[]) => {
      if (words === 'broken') throw new Error(words)
      const asked = name === 'tcf' ? ['addEventListener', 2] : ['addEventListener']
      assert.deepEqual([command, ...rest.slice(0, -1)], asked)
      const listener = rest.at(-1) as (word: unknown) => void
      listeners[name] = listener
      words.forEach((word) => void listener(word))
    })
  const define = (target: object, name: string, value: unknown) =>
    Object.defineProperty(target, name, { configurable: true, value })
  const tools = { __tcfapi: tool('tcf', tcf), __gpp: tool('gpp', gpp) }
  define(globalThis, 'window', { ...tools, souk: settings })
  define(navigator, 'globalPrivacyControl', gpc)
  let read: Awaited<ReturnType<typeof watchConsent>> | null = null
  watchConsent().then((choice) => {
    read = choice
  })
  const after = async (ms: number): Promise<string> => {
    t.mock.timers.tick(ms)
    await new Promise(setImmediate)
    const { consent, consent_source = null } = read?.() ?? { consent: 'not yet' }
    return consent_source === null ? consent : `${consent} (${consent_source})`
  }
  const write = (souk: PageSettings) => Object.assign(window, { souk })
  return { after, listeners, write }
}

const tcf = (...purposes: number[]) => ({
  gdprApplies: true,
  purpose: { consents: Object.fromEntries(purposes.map((purpose) => [purpose, true])) },
})
const gpp = (parsedSections: unknown, signalStatus = 'ready') => ({
  pingData: { signalStatus, parsedSections },
})

test('any refusal wins over any permission, and the first refusal is reported', async (t) => {
  const [yes, no, full] = [[tcf(1, 2)], [tcf(2, 3)], { consent: 'full' } as const]
  const [sold, kept] = [[gpp({ usnat: { SaleOptOut: 2 } })], [gpp({ usnat: { SaleOptOut: 1 } })]]
  const contextual = { consent: 'contextual' } as const
  const expected: [Page, string][] = [
    [{}, 'unknown'],
    [{ gpc: false }, 'unknown'],
    [{ settings: full }, 'full (page)'],
    [{ settings: contextual }, 'contextual (page)'],
    [{ tcf: yes }, 'full (tcf)'],
    [{ tcf: no }, 'contextual (tcf)'],
    [{ tcf: yes, gpp: sold, settings: full }, 'full (tcf)'],
    [{ tcf: yes, gpp: kept, settings: full }, 'contextual (gpp)'],
    [{ tcf: no, gpp: kept, settings: contextual }, 'contextual (tcf)'],
    [{ tcf: yes, gpp: sold, settings: contextual }, 'contextual (page)'],
    [{ gpc: true, tcf: no, gpp: kept, settings: full }, 'contextual (gpc)'],
    [{ tcf: [{ gdprApplies: false }], gpp: sold }, 'full (gpp)'],
    [{ tcf: [{ ...tcf(1), gdprApplies: false }] }, 'unknown'],
    [{ tcf: [{ purpose: { consents: { 1: true } } }] }, 'full (tcf)'],
    [{ tcf: [null] }, 'contextual (tcf)'],
    [{ gpp: [gpp({ usnat: { SaleOptOut: 2 } }, 'not ready'), ...kept] }, 'contextual (gpp)'],
  ]
  for (const [page, choice] of expected) {
    assert.equal(await open(t, page).after(0), choice, JSON.stringify(page))
    t.mock.timers.reset()
  }
})

test('an opt-out of sale or sharing in any state’s section is a refusal', async (t) => {
  const expected: [unknown, string][] = [
    [{ usnat: { SharingOptOut: 1, SaleOptOut: 2 } }, 'contextual (gpp)'],
    [{ usca: [{ SaleOptOut: 1 }, { Gpc: false }] }, 'contextual (gpp)'],
    [{ usva: { SaleOptOut: 2 }, usco: { SaleOptOut: 1 } }, 'contextual (gpp)'],
    [{ usca: [{ SaleOptOut: 2 }, { Gpc: true }] }, 'contextual (gpp)'],
    [{ usnat: { SaleOptOut: 2, Gpc: 1 } }, 'contextual (gpp)'],
    [{ uspv1: { Notice: 'Y', OptOutSale: 'Y' } }, 'contextual (gpp)'],
    [{ uspv1: { Notice: 'Y', OptOutSale: 'N' } }, 'full (gpp)'],
    [{ usnat: { SharingOptOut: 2 } }, 'full (gpp)'],
    [{ usva: { SaleOptOut: 2, SaleOptOutNotice: 1, Gpc: false } }, 'full (gpp)'],
    [{ usnat: { SaleOptOut: 0, SharingOptOut: 0 } }, 'unknown'],
    [{ uspv1: { Notice: 'N', OptOutSale: '-' } }, 'unknown'],
    [{ tcfeuv2: { PurposeConsents: [1] } }, 'unknown'],
    [{}, 'unknown'],
    [undefined, 'unknown'],
  ]
  for (const [sections, choice] of expected) {
    const listeners = await open(t, { gpp: [gpp(sections)] }).after(0)
    assert.equal(listeners, choice, JSON.stringify(sections))
    t.mock.timers.reset()
  }
})

test('a tool that is silent for a second counts as a refusal until it answers', async (t) => {
  for (const [name, word] of [
    ['tcf', tcf(1)],
    ['gpp', gpp({ usnat: { SaleOptOut: 2 } })],
  ] as const) {
    const { after, listeners } = open(t, { [name]: [] })
    assert.equal(await after(999), 'not yet')
    assert.equal(await after(1), `contextual (${name})`)
    listeners[name]?.(word)
    assert.equal(await after(0), `full (${name})`)
    listeners[name]?.(null)
    const still = name === 'tcf' ? 'contextual' : 'full'
    assert.equal(await after(0), `${still} (${name})`, 'an answer that says nothing')
    t.mock.timers.reset()
  }
})

test('waits for an open banner as for a silent tool', async (t) => {
  const shown = { ...tcf(), eventStatus: 'cmpuishown' }
  const answered = { ...tcf(1), eventStatus: 'useractioncomplete' }
  const { after, listeners } = open(t, { tcf: [shown] })
  assert.equal(await after(600), 'not yet')
  listeners.tcf?.(answered)
  assert.equal(await after(0), 'full (tcf)')
  t.mock.timers.reset()
  const silent = open(t, { tcf: [shown] })
  assert.equal(await silent.after(1_000), 'contextual (tcf)')
})

test('an answer of one tool does not stand for the other', async (t) => {
  const { after, listeners } = open(t, { tcf: [tcf(1)], gpp: [] })
  assert.equal(await after(500), 'not yet')
  listeners.gpp?.(gpp({ usnat: { SaleOptOut: 2 } }))
  assert.equal(await after(0), 'full (tcf)')
})

test('a tool that throws is a refusal at once, whatever another may answer', async (t) => {
  const { after } = open(t, { tcf: 'broken', gpp: [] })
  assert.equal(await after(0), 'contextual (tcf)')
})

test('a choice that the page or its tool changes applies from then on', async (t) => {
  const settings: PageSettings = { consent: 'full' }
  const { after, listeners, write } = open(t, { tcf: [tcf(1)], settings })
  assert.equal(await after(0), 'full (tcf)')
  listeners.tcf?.(tcf())
  assert.equal(await after(0), 'contextual (tcf)')
  listeners.tcf?.(tcf(1))
  settings.consent = 'contextual'
  assert.equal(await after(0), 'contextual (page)')
  write({ consent: 'full' })
  assert.equal(await after(0), 'full (tcf)')
  write({ consent: 'contextual' })
  assert.equal(await after(0), 'contextual (page)')
  write({})
  assert.equal(await after(0), 'full (tcf)', 'a withdrawn permission no longer applies')
})

test('asks a late tool when it loads, for ten seconds and at each request', async (t) => {
  for (const [name, word, choice] of [
    ['__tcfapi', tcf(), 'contextual (tcf)'],
    ['__tcfapi', tcf(1), 'full (tcf)'],
    ['__gpp', gpp({ usnat: { SaleOptOut: 1 } }), 'contextual (gpp)'],
  ] as const) {
    const { after } = open(t, {})
    assert.equal(await after(0), 'unknown')
    const heard: string[] = []
    const load = () =>
      Object.assign(window, {
        [name]: (...call: unknown[]) => {
          heard.push(String(call[0]))
          const listener = call.at(-1) as (word: unknown) => void
          listener(word)
        },
      })
    await after(700)
    load()
    t.mock.timers.tick(250)
    assert.deepEqual(heard, ['addEventListener'], 'asked before any request')
    assert.equal(await after(0), choice)
    t.mock.timers.tick(20_000)
    load()
    assert.equal(heard.length, 1)
    assert.equal(await after(0), choice)
    assert.equal(heard.length, 2, 'another tool in its place is asked at the next request')
    await after(10_000)
    assert.equal(heard.length, 2, 'each is asked once')
    t.mock.timers.reset()
  }
})

test('a late tool that has not answered or that throws counts as a refusal', async (t) => {
  for (const answer of [() => undefined, () => assert.fail('broken')]) {
    const { after } = open(t, { settings: { consent: 'full' } })
    assert.equal(await after(0), 'full (page)')
    Object.assign(window, { __tcfapi: answer })
    assert.equal(await after(0), 'contextual (tcf)')
    t.mock.timers.reset()
  }
})
