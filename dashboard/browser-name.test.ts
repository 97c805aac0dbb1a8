import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserName } from './browser-name.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test('a session is named by browser and system, and a program by its own name', () => {
  for (const [userAgent, name] of [
    [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/149.0 Safari/537.36`, 'Chrome on Linux'],
    [
      `Mozilla/5.0 (Linux; Android 16) ${WEBKIT} Chrome/149.0 Mobile Safari/537.36 EdgA/149.0`,
      'Edge on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1 Safari/604.1',
      'Safari on iPhone',
    ],
    ['Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['', 'Unknown program'],
  ] as const) {
    assert.equal(browserName(userAgent), name)
  }
})
