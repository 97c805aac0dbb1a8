import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  articleHref,
  count,
  date,
  dollars,
  microDollars,
  monthOfYear,
  percent,
  shortDay,
  shortUrl,
  time,
} from './format.ts'

function assertShown<T>(show: (value: T) => string, cases: readonly (readonly [T, string])[]) {
  for (const [value, shown] of cases) assert.equal(show(value), shown, String(value))
}

test('an amount shows all its digits, at least two, and zero has no minus sign', () => {
  assertShown(dollars, [
    ['0', '$0.00'],
    ['1234.5', '$1,234.50'],
    ['-1234.5', '−$1,234.50'],
    ['0.000001', '$0.000001'],
    ['-0.10', '−$0.10'],
    ['-0.00', '$0.00'],
    ['12345678901234567890.12', '$12,345,678,901,234,567,890.12'],
  ])
  assertShown(microDollars, [
    [0, '$0.00'],
    [100_000, '$0.10'],
    [1_000_000, '$1.00'],
    [120_000, '$0.12'],
    [123_000, '$0.123'],
    [542_235.4, '$0.542235'],
    [12_345_600, '$12.3456'],
  ])
})

test('numbers have thousands separators and a true minus sign, and shares show all digits', () => {
  assertShown(count, [
    [0, '0'],
    [1_234_567, '1,234,567'],
    [-1_234, '−1,234'],
  ])
  assertShown(percent, [
    [0.7013, '70.13 %'],
    [0.75, '75 %'],
    [0.000001, '0.0001 %'],
    [1, '100 %'],
  ])
  assert.equal(percent(0.12345, 1), '12.3 %')
})

test('days and times are in UTC, whatever the reader’s time zone', () => {
  assertShown(shortDay, [['2026-03-02', '2 Mar']])
  assertShown(monthOfYear, [['2026-03-02', 'Mar 2026']])
  assertShown(date, [
    ['2026-03-01T23:59:59Z', '1 Mar 2026'],
    ['2026-03-02T00:00:00Z', '2 Mar 2026'],
  ])
  assertShown(time, [['2026-03-02T09:24:05Z', '09:24:05']])
})

test('a URL is shown as host, path and query, and an invalid one unchanged', () => {
  assertShown(shortUrl, [
    ['https://www.shop.example/p/1?x=1#y', 'shop.example/p/1?x=1'],
    ['https://shop.example/', 'shop.example'],
    ['https://awww.shop.example:8080/a/', 'awww.shop.example:8080/a'],
    ['https://xn--bcher-kva.example:8080/a', 'bücher.example:8080/a'],
    ['not an address', 'not an address'],
  ])
})

test('an article has a link only if it has a page', () => {
  assert.equal(articleHref('https://a.example/post?url=&x'), 'https://a.example/post?url=&x')
  assert.equal(articleHref('https://link.example/link/?url=&publisher_slug=daily'), undefined)
  assert.equal(articleHref(''), undefined)
})
