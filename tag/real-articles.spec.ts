/**
 * The page tag on real articles (needs ../shared/data/article-pages): 95 to 259 anchors each, by
 * authors who did not know Souk. The test derives the expected links separately, from the text.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { decodeHTML } from 'entities'
import { PUBLISHER_DEFAULTS } from '../src/accounts/publisher.ts'
import { insertPublisher } from '../src/accounts/publisher-store.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant } from '../src/catalog/merchant-store.ts'
import { kitPath } from '../test/support/shared-data.ts'
import { openPage } from './testing/browser.ts'
import { startNetwork } from './testing/network.ts'

const network = await startNetwork({ after })
const { web, service, app } = network
const db = app.node.database

interface Article {
  readonly name: string
  readonly html: string
  readonly anchors: readonly string[] // URLs as written
  readonly ownDomain: string
}

/** Parts in which a browser shows no links: comments, scripts, templates, noscript. */
const UNSEEN = /<!--[\s\S]*?-->|<(script|style|noscript|template|textarea)\b[\s\S]*?<\/\1\s*>/gi
const START_TAG = /<(a|area|link)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi

/** The decoded attribute of a start tag; null when missing. */
function attribute(tag: string, name: string): string | null {
  const match = new RegExp(`\\s${name}\\s*=\\s*("[^"]*"|'[^']*'|[^\\s>]+)`, 'i').exec(tag)
  return match?.[1] === undefined ? null : decodeHTML(match[1].replace(/^(["'])(.*)\1$/s, '$2'))
}

function readArticle(path: string, name: string): Article {
  const html = gunzipSync(readFileSync(path)).toString('utf8')
  const anchors: string[] = []
  let canonical = ''
  for (const [tag, element = ''] of html.replace(UNSEEN, '').matchAll(START_TAG)) {
    const href = attribute(tag, 'href')
    if (href === null) continue
    if (element.toLowerCase() !== 'link') anchors.push(href)
    else if (attribute(tag, 'rel') === 'canonical') canonical = href
  }
  const ownDomain = new URL(canonical).hostname.replace(/^www\./, '')
  return { name, html, anchors, ownDomain }
}

/** The outside links of an article, one entry per anchor, absolute. */
function outside({ anchors, ownDomain }: Article, articleUrl: string): string[] {
  return anchors.flatMap((href) => {
    const url = URL.parse(href, articleUrl)
    if (url === null || !['http:', 'https:'].includes(url.protocol)) return []
    const isOwn =
      url.host === new URL(articleUrl).host || `.${url.hostname}`.endsWith(`.${ownDomain}`)
    return isOwn || url.href.length > 2000 ? [] : [url.href]
  })
}

interface Seen {
  readonly asked: string[]
  /** The original URLs of the anchors that now lead elsewhere. */
  readonly rewritten: string[]
  readonly anchors: number
  readonly errors: string[]
  readonly impressions: number
  readonly pages: number
}

/** Loads an article with the tag of the publisher who owns the page. */
async function see(t: TestContext, article: Article, scope: 'all' | 'network'): Promise<Seen> {
  const slug = `${scope}-${article.name}`
  await insertPublisher(db, {
    ...PUBLISHER_DEFAULTS,
    ...{ uid: network.uid, name: slug, slug, is_partner: true, linkmate_scope: scope },
    domains: [article.ownDomain],
  })
  await network.untilKnown(slug)
  const url = `${web.host(slug)}/article`
  const tag = `<script async src="${service}/tag/souk.js" data-publisher="${slug}"></script>`
  // Only the tag's script may run, not the articles' own scripts and images.
  const policy = `default-src 'none'; script-src ${service}; connect-src ${service}; img-src ${service}`
  web.publish('/article', article.html + tag, { 'content-security-policy': policy })
  const { page, errors, quiet } = await openPage(t)
  const asked: string[] = []
  page.on('request', (request) => {
    if (!request.url().includes('/linkmate/')) return
    const { links } = JSON.parse(request.postData() ?? '') as { links: { raw_url: string }[] }
    asked.push(...links.map(({ raw_url }) => raw_url))
  })
  await page.goto(url)
  await quiet()
  const now = await page.evaluate(() => Array.from(document.links, ({ href }) => href))
  // From the text: by the time the page has loaded, the tag may have changed its first links.
  const before = article.anchors.map((href) => URL.parse(href, url)?.href ?? href)
  const rewritten = before.filter((_, at) => now[at]?.startsWith(`${service}/api/v1/redirect/`))
  const { links, pages } = await network.recorded(url)
  return { asked, rewritten, anchors: now.length, errors, impressions: links.length, pages }
}

const FOLDER = 'article-pages'

function articles(t: TestContext): Article[] {
  const folder = kitPath(t, FOLDER)
  if (folder === null) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.html.gz'))
    .map((file) => readArticle(join(folder, file), file.replace(/\.html\.gz$/, '').slice(0, 20)))
}

test('with exclusive links a publisher gets only the network’s shops, else an unchanged page (needs ../shared/data/article-pages)', async (t) => {
  const found = articles(t)
  if (found.length === 0) return
  await insertMerchant(db, {
    ...MERCHANT_DEFAULTS,
    name: 'A large shop',
    domains: ['amazon.com', 'amzn.to'],
  })
  let changed = 0
  for (const article of found) {
    const seen = await see(t, article, 'network')
    const wanted = outside(article, `${web.host(`network-${article.name}`)}/article`)
    const isShop = (href: string) => /^https?:\/\/([\w-]+\.)*(amazon\.com|amzn\.to)\//.test(href)
    assert.deepEqual(
      seen.rewritten.filter((href) => !/amazon\.com|amzn\.to/.test(decodeURIComponent(href))),
      [],
      article.name,
    )
    assert.deepEqual(seen.rewritten.filter(isShop), wanted.filter(isShop), article.name)
    if (article.name.includes('engadget')) assert.deepEqual(seen.rewritten, [])
    assert.deepEqual(seen.errors, [], article.name)
    changed += seen.rewritten.length
  }
  assert.ok(changed > 0)
})

test('takes every outside link of real articles that can earn, once each, and nothing else (needs ../shared/data/article-pages)', async (t) => {
  const found = articles(t)
  // Merchants own the host of every outside link, so that each can earn.
  const hosts = found.flatMap((article) =>
    outside(article, `${web.host(`all-${article.name}`)}/article`).map(
      (href) => new URL(href).hostname,
    ),
  )
  const domains = [...new Set(hosts)].filter((host) => !/(^|\.)(amazon\.com|amzn\.to)$/.test(host))
  await insertMerchant(db, { ...MERCHANT_DEFAULTS, name: 'Every other shop', domains })
  for (const article of found) {
    const seen = await see(t, article, 'all')
    const wanted = outside(article, `${web.host(`all-${article.name}`)}/article`)
    assert.equal(seen.anchors, article.anchors.length, article.name)
    assert.deepEqual(seen.asked, [...new Set(wanted)], article.name)
    assert.equal(seen.rewritten.length, wanted.length, article.name)
    assert.equal(seen.impressions, wanted.length, article.name)
    assert.equal(seen.pages, 1, article.name)
    assert.deepEqual(seen.errors, [], article.name)
    t.diagnostic(
      `${article.name}: ${seen.anchors} anchors, ${wanted.length} outside, ` +
        `${seen.asked.length} distinct, ${seen.rewritten.length} rewritten`,
    )
  }
})
