/** Bots and device classes, read from user agents. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { kitPath } from '../../test/support/shared-data.ts'
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

test('of 9,872 browsers on devices 15 are taken for robots’ (needs ../shared/data/user-agents)', (t) => {
  const listed = uapCore(t, 'device')
  const browsers = listed?.filter(
    ({ text, family, brand }) =>
      /^(?:Mozilla|Opera)\//.test(text) && family !== 'Spider' && brand !== 'Spider',
  )
  if (browsers === undefined) return
  assert.equal(browsers.length, 9872)
  const refused = browsers.filter(({ text }) => readUserAgent(text).isRobot)
  // Phones of before 2012, televisions with the word HTTP, and strings that were damaged.
  assert.equal(refused.length, 15, refused.map(({ text }) => text).join('\n'))
})

test('the browsers inside apps and on desktops are people’s (needs ../shared/data/user-agents)', (t) => {
  const families =
    /^(?:Chrome|Firefox|Edge|Safari|Opera|IE|Samsung Internet|Facebook|Instagram|Pinterest|Snapchat|TikTok|LinkedIn|Twitter|WeChat|Line|KakaoTalk|DuckDuckGo|Brave|Vivaldi|UC Browser|Mobile Safari|Chrome Mobile|Firefox Mobile|Opera Mobile|Edge Mobile|TopBuzz|.*WKWebView.*|.*WebView.*)$/i
  const listed = uapCore(t, 'ua')?.filter(
    ({ text, family }) => /^Mozilla\//.test(text) && families.test(family),
  )
  if (listed === undefined) return
  assert.ok(listed.length > 100)
  const refused = listed.filter(({ text }) => readUserAgent(text).isRobot)
  // A plug-in of Internet Explorer, gone since 2014, and a preview that no person saw.
  const known = /chromeframe|Google Web Preview/
  assert.deepEqual(
    refused.filter(({ text }) => !known.test(text)),
    [],
  )
})

test('HTTP libraries and office programs are programs (needs ../shared/data/user-agents)', (t) => {
  const libraries =
    /^(?:CFNetwork|Outlook|Word|aws-.*|rusoto|ReactorNetty|Apache-CXF|minio-go|JetS3t|s3fs|Python.*|okhttp|.*HttpClient|Go-http-client|curl|Wget|.*Requests|axios|Java|libcurl)$/i
  const listed = uapCore(t, 'ua')?.filter(({ family }) => libraries.test(family))
  if (listed === undefined) return
  assert.ok(listed.length > 40)
  for (const { text } of listed) assert.equal(readUserAgent(text).isRobot, true, text)
  for (const text of [
    'Dart/3.5 (dart:io)',
    'Reader/7 CFNetwork/1494.0.7 Darwin/23.4.0',
    'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
    'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.6326; Pro)',
    'Dalvik/2.1.0 (Linux; U; Android 15; Pixel 9 Build/AP4A)',
    'Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.1',
    ...['okhttp/4.12.0', 'python-requests/2.32.3', 'Go-http-client/2.0', 'axios/1.7.9', 'node'],
    ...['curl/8.9.1', 'Wget/1.24.5', 'Java/21.0.2', 'Apache-HttpClient/5.3 (Java/21)', 'undici'],
  ]) {
    assert.equal(readUserAgent(text).isRobot, true, text)
  }
})

/** What uap-core's tests say of user agents; undefined without the kit. */
function uapCore(t: TestContext, kind: 'ua' | 'device') {
  const path = kitPath(t, `user-agents/uap-core-test_${kind}.yaml.gz`)
  if (path === null) return undefined
  const cases = gunzipSync(readFileSync(path))
    .toString()
    .split(/^ *- user_agent_string: /m)
    .slice(1)
  return cases.map((entry) => {
    const [text = '', ...rest] = entry.split('\n')
    const field = (name: string) =>
      unquoted(rest.find((line) => line.trim().startsWith(`${name}:`))?.split(':')[1] ?? '')
    return { text: unquoted(text), family: field('family'), brand: field('brand') }
  })
}

/** A YAML scalar, as far as this file has them. */
function unquoted(scalar: string): string {
  const text = scalar.trim()
  if (text.startsWith('"')) return JSON.parse(text) as string
  return text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text
}

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

test('recognises a prefetched page by each header that browsers send, whatever its case', () => {
  for (const headers of [
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'Prefetch' },
    { 'x-moz': 'prefetch' },
    { purpose: 'preview' },
    { purpose: ' PREFETCH ' },
    { 'x-purpose': 'preview' },
    { 'x-purpose': ': preview' },
    { 'x-moz': 'Prefetch' },
    { 'sec-purpose': 'prefetch;anonymous-client-ip' },
    { 'sec-purpose': 'prerender' },
  ]) {
    assert.equal(isPrefetch(headers), true, JSON.stringify(headers))
  }
  for (const headers of [{}, { 'sec-purpose': '' }, { purpose: 'navigate' }]) {
    assert.equal(isPrefetch(headers), false)
  }
})
