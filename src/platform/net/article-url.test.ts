import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArticleUrl } from './article-url.ts'

const keyOf = (text: string) => readArticleUrl(text)?.key.toString('hex')
const ARTICLE = 'https://www.daily.example/news/kettles'

test('gives every AMP address of an article the key of the article', () => {
  for (const copy of [
    'https://www-daily-example.cdn.ampproject.org/c/s/www.daily.example/news/kettles',
    'https://www-daily-example.cdn.ampproject.org/v/s/www.daily.example/news/kettles/amp/?usqp=mq331AQ&amp_js_v=0.1',
    'https://cdn.ampproject.org/c/www.daily.example/news/kettles?amp_gsa=1',
    'https://daily-example.cdn.ampproject.org/wp/s/daily.example/news/kettles',
    'https://www-daily-example.bing-amp.com/c/s/www.daily.example/news/kettles',
    'https://www.google.com/amp/s/www.daily.example/news/kettles',
    'https://www.google.co.uk/amp/s/www.daily.example/news/kettles%3famp=1',
    'https://www.google.de/amp/www.daily.example/news/kettles/#aoh=1&amp_ct=2&referrer=x',
    'https://www.bing.com/amp/s/www.daily.example/news/kettles',
    'https://www.google.com/amp/s/www-daily-example.cdn.ampproject.org/c/s/www.daily.example/news/kettles',
    'https://www.daily.example/amp/news/kettles',
    'https://www.daily.example/news/amp/kettles',
    'https://www.daily.example/news/kettles/amp',
    'https://www.daily.example/news/kettles/AMP/',
    'https://www.daily.example/news/kettles.amp',
    'https://www.daily.example/news/kettles?amp',
    'https://www.daily.example/news/kettles?amp=1&utm_source=x',
    'https://www.daily.example/news/kettles?outputType=amp',
    'https://www.daily.example/news/kettles?amp_latest_update_time=1&usqp=x',
  ]) {
    assert.equal(keyOf(copy), keyOf(ARTICLE), copy)
  }
  const page = 'https://daily.example/news/kettles.amp.html?id=7&amp=true'
  assert.equal(keyOf(page), keyOf('https://daily.example/news/kettles.html?id=7'))
})

test('gives other pages separate keys', () => {
  const others = [
    'https://www.daily.example/news/kettles?amp=2',
    'https://www.daily.example/news/kettles?lamp=1',
    'https://www.daily.example/news/lamp/kettles',
    'https://www.daily.example/news/amps/kettles',
    'https://www.daily.example/news/kettles?id=7',
    'https://www.google.com/news/s/www.daily.example/news/kettles',
    'https://google.daily.example/amp/s/www.daily.example/news/kettles',
    'https://ampproject.org.evil.example/c/s/www.daily.example/news/kettles',
    'https://cdn.ampproject.org/i/s/www.daily.example/news/kettles',
  ]
  const keys = [ARTICLE, ...others].map(keyOf)
  assert.equal(new Set(keys).size, keys.length)
})

test('names the publisher’s own page for a copy, and keeps other addresses as written', () => {
  const copy = 'https://www-daily-example.cdn.ampproject.org/c/s/www.daily.example:8443/a?id=7'
  assert.equal(readArticleUrl(copy)?.href, 'https://www.daily.example:8443/a?id=7')
  for (const text of ['HTTPS://Daily.example/a/amp/', 'https://daily.example/?amp=1#x']) {
    assert.equal(readArticleUrl(text)?.href, text)
  }
})

test('reads nothing from what is no web address', () => {
  for (const text of ['', 'daily.example/a', 'mailto:a@b.example', 'https:///x']) {
    assert.equal(readArticleUrl(text), null, text)
  }
})

test('keeps the address of a cache that names no page', () => {
  for (const text of ['https://cdn.ampproject.org/c/s/', 'https://www.google.com/amp/s/?x']) {
    assert.equal(readArticleUrl(text)?.href, text)
  }
})
