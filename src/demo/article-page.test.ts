import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frontPage } from './article-page.ts'
import { ARTICLES, PUBLISHERS } from './network.ts'

test("each magazine's front page has one heading above those of its articles", () => {
  const articles = ARTICLES.map((article) => ({ article, url: `/${article.slug}` }))
  for (const publisher of PUBLISHERS) {
    const page = frontPage(publisher, articles)
    assert.deepEqual(page.match(/<h\d/g), ['<h1', ...articles.map(() => '<h2')])
  }
})
