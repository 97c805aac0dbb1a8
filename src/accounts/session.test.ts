import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireOwnOrigin } from './session.ts'

test("a change must come from the dashboard's own pages, or from no browser, as JSON", () => {
  const codeOf = (headers: Record<string, string>, method = 'POST') => {
    try {
      requireOwnOrigin({ method, headers }, 'https://souk.example/base')
      return null
    } catch (error) {
      return (error as { code: number }).code
    }
  }
  const json = { 'content-type': 'application/json' }
  for (const headers of [
    {},
    { 'content-length': '0' },
    json,
    { 'content-type': 'Application/JSON ; charset=utf-8', 'content-length': '2' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://souk.example' },
    { origin: 'https://souk.example' },
  ]) {
    assert.equal(codeOf(headers), null, JSON.stringify(headers))
  }
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    assert.equal(codeOf({ ...json, 'sec-fetch-site': site }), 4309, site)
  }
  for (const origin of ['null', 'https://souk.example.evil', 'http://souk.example', '']) {
    assert.equal(codeOf({ ...json, origin }), 4309, origin)
  }
  for (const headers of [
    { 'content-length': '1' },
    { 'transfer-encoding': 'chunked' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/jsonx', 'content-length': '1' },
    { 'content-type': 'text/plain; application/json', 'content-length': '1' },
  ]) {
    assert.equal(codeOf(headers), 4150, JSON.stringify(headers))
  }
  const foreign = { origin: 'https://evil.example' }
  for (const method of ['PUT', 'PATCH', 'DELETE']) assert.equal(codeOf(foreign, method), 4309)
  for (const method of ['GET', 'HEAD']) assert.equal(codeOf(foreign, method), null)
})
