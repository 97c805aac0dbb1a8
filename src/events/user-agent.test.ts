/** Who reads, and on which class of device, by what browsers say of themselves. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kitPath } from '../../test/kit.ts'
import { DEVICE, deviceWord, isPrefetch, readUserAgent } from './user-agent.ts'

const PHONE =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) ' +
  'Version/4.0 Chrome/149.0.0.0 Mobile Safari/537.36'
const TABLET =
  'Mozilla/5.0 (Linux; Android 15; SM-X710; wv) AppleWebKit/537.36 (KHTML, like Gecko) ' +
  'Version/4.0 Chrome/149.0.0.0 Safari/537.36'
const WINDOWS_TABLET_PC =
  'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; Tablet PC 2.0)'
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ' +
  'Version/26.0 Mobile/15E148 Safari/604.1'

const APPS = [
  'Instagram 400.0.0.0 Android (35/15; 480dpi; 1080x2340; Google/google; Pixel 9; tokay; en_US)',
  '[FB_IAB/Orca-Android;FBAV/530.0.0.0;]',
  '[Pinterest/Android]',
  'Telegram-Android/12.3.1 (Google Pixel 9; Android 15; SDK 35; HIGH)',
]

test('a phone is a phone also in an app that names Android once more behind it', () => {
  for (const app of APPS) {
    const phone = readUserAgent(`${PHONE} ${app}`)
    assert.deepEqual([phone.isRobot, phone.device], [false, DEVICE.mobile], app)
    assert.equal(readUserAgent(`${TABLET} ${app}`).device, DEVICE.tablet, app)
  }
  assert.equal(readUserAgent(PHONE).device, DEVICE.mobile)
  const small = 'Opera/9.80 (Android; Opera Mini/36.2/119.132; U; id) Presto/2.12 Version/12.16'
  assert.equal(readUserAgent(small).device, DEVICE.mobile)
})

test('a tablet is one by its name or as an Android that is no phone; Windows for tablets is a desktop', () => {
  assert.equal(readUserAgent(TABLET).device, DEVICE.tablet)
  assert.equal(readUserAgent(IPAD).device, DEVICE.tablet)
  const firefox = 'Mozilla/5.0 (Android 16; Tablet; rv:149.0) Gecko/149.0 Firefox/149.0'
  assert.equal(readUserAgent(firefox).device, DEVICE.tablet)
  assert.equal(readUserAgent(WINDOWS_TABLET_PC).device, DEVICE.desktop)
})

test('of 2,116 strings listed as robots’ nine are taken for people’s, five of them rightly (needs ../shared/data/user-agents)', (t) => {
  const path = kitPath(t, 'user-agents/crawler-user-agents.json')
  if (path === null) return
  const listed = JSON.parse(readFileSync(path, 'utf8')) as {
    pattern: string
    instances: string[]
  }[]
  const strings = listed.flatMap(({ pattern, instances }) =>
    instances.map((instance) => ({ pattern, instance })),
  )
  assert.equal(strings.length, 2116)
  const people = strings.filter(({ instance }) => !readUserAgent(instance).isRobot)
  assert.deepEqual(
    people.map(({ pattern }) => pattern),
    [
      // Apps and editors that people use.
      'AP3A\\.240617\\.008',
      'Code\\/1\\.',
      'MetaIAB Facebook',
      'Trae\\/',
      'Fluid',
      // Tools that pass for browsers.
      'TSM-turingos',
      'GTmetrix',
      'Miniature\\.io\\/',
      'YLT Chrome',
    ],
  )
})

test('a browser is named by its own word, not by those that it adds to be taken for others', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  const chrome = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/149.0.0.0 Safari/537.36`
  const apple = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15'
  for (const [family, text] of [
    ['Chrome', chrome],
    ['Edge', `${chrome} Edg/149.0.0.0`],
    ['Edge', `${chrome} EdgA/149.0.0.0`],
    ['Edge', `${apple} Version/18.0 EdgiOS/149.0.0.0 Mobile/15E148 Safari/604.1`],
    ['Opera', `${chrome} OPR/125.0.0.0`],
    ['Samsung Internet', chrome.replace('Chrome/', 'SamsungBrowser/29.0 Chrome/')],
    ['Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:149.0) Gecko/20100101 Firefox/149.0'],
    ['Firefox', `${apple} FxiOS/149.0 Mobile/15E148 Safari/605.1.15`],
    ['Chrome', `${apple} CriOS/149.0.0.0 Mobile/15E148 Safari/604.1`],
    ['Safari', IPAD],
    ['Other', WINDOWS_TABLET_PC],
  ] as const) {
    assert.equal(readUserAgent(text).family, family, text)
  }
})

test('who says nothing is a robot on a device that nobody knows', () => {
  const nothing = { isRobot: true, device: DEVICE.unknown, family: 'Other' }
  for (const header of [undefined, '']) assert.deepEqual(readUserAgent(header), nothing)
  const words = [DEVICE.unknown, DEVICE.desktop, DEVICE.mobile, DEVICE.tablet, 9].map(deviceWord)
  assert.deepEqual(words, ['unknown', 'desktop', 'mobile', 'tablet', 'unknown'])
})

test('a page fetched ahead is known by each header that browsers tell it in, whatever its case', () => {
  for (const headers of [
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'Prefetch' },
    { 'x-moz': 'prefetch' },
    { purpose: 'preview' },
  ]) {
    assert.equal(isPrefetch(headers), true, JSON.stringify(headers))
  }
  assert.equal(isPrefetch({}), false)
})
