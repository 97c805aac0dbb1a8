/** Pages that change while the tag runs: what frameworks, lists and other scripts do to links. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPage, passTime } from './testing/browser.ts'
import { attribute, startVisits } from './testing/visit.ts'

const visits = await startVisits({ after })
const { network, visit, redirectOf } = visits
const { web, service } = network
const [first, second] = visits.ids

for (const [name, button] of [
  ['a page that redraws its links', 'draw'],
  ['a list that shows only what is in view', 'scroll'],
] as const) {
  test(`${name} counts each place of a link once, and restores its outcome at once`, async (t) => {
    const { page, quiet, auctions, url, errors } = await visit(t, 'redrawn.html')
    await passTime(page, 1_200)
    await quiet()
    const { links, viewable } = await network.recorded(url)
    assert.equal(links.length, 4)
    for (let times = 0; times < 4; times++) {
      await page.locator(`#${button}`).click()
      await passTime(page, 1_300)
    }
    await quiet()
    for (const anchor of await page.locator('main a').all()) {
      assert.match((await anchor.getAttribute('href')) ?? '', /\/api\/v1\/redirect\//)
    }
    const recorded = await network.recorded(url)
    assert.deepEqual(recorded.links, links)
    assert.deepEqual(recorded.viewable, viewable)
    assert.equal(auctions.length, 3, 'one auction for each smart link')
    assert.deepEqual(errors, [])
  })
}

test('forgets anchors that have left the page', async (t) => {
  const { page, quiet } = await visit(t, 'redrawn.html')
  await page.evaluate(() => {
    const gone = Array.from(document.links, (anchor) => new WeakRef(anchor))
    Object.assign(window, { countGone: () => gone.filter((ref) => ref.deref()).length })
  })
  await page.locator('#draw').click()
  await quiet()
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  assert.equal(await page.evaluate('countGone()'), 0)
})

test('restores a removed anchor, and applies the outcome again when it returns', async (t) => {
  const { page, quiet, auctions, url } = await visit(t, 'smart-links.html')
  const run = auctions.length
  const left = await page.evaluateHandle(() => {
    const anchor = document.getElementById('plain') as HTMLAnchorElement
    anchor.remove()
    return anchor
  })
  await quiet()
  assert.equal(await left.getAttribute('href'), `${service}/${first}`)
  assert.equal(await left.getAttribute('rel'), null)
  await left.evaluate((anchor) => document.body.append(anchor))
  await quiet()
  await redirectOf(page, 'plain')
  assert.equal(auctions.length, run)
  assert.equal((await network.recorded(url)).links.length, 8)
})

const HEAD = `<!doctype html><title>A page</title>
  <script async src="{service}/tag/souk.js" data-publisher="daily"></script>`

test('keeps what a script of the page adds to an outcome’s URL, at no extra cost', async (t) => {
  web.publish(
    '/labelled.html',
    `${HEAD}<a id="smart" href="{service}/{smart 1}">smart</a> <a id="raw" href="{kettles}/p/5">raw</a>
    <script>
      const label = () => {
        for (const anchor of document.querySelectorAll('[data-souk-auction]')) {
          const url = new URL(anchor)
          if (url.searchParams.has('ref')) continue
          url.searchParams.set('ref', 'us')
          anchor.href = url
        }
      }
      new MutationObserver(label).observe(document, { subtree: true, attributeFilter: ['href'] })
    </script>`,
  )
  const { page, quiet, url, errors } = await visit(t, 'labelled.html')
  await passTime(page, 1_200)
  await quiet()
  for (const id of ['smart', 'raw']) {
    assert.equal((await redirectOf(page, id)).searchParams.get('ref'), 'us')
    assert.equal(await attribute(page, id, 'rel'), 'sponsored nofollow')
  }
  const { links, viewable } = await network.recorded(url)
  assert.equal(links.length, 2)
  assert.deepEqual(viewable, links)
  await page.locator('#smart').click()
  await page.waitForURL(/cid=/)
  assert.deepEqual(errors, [])
})

test('applies the outcome again when a framework rewrites links during hydration', async (t) => {
  // Svelte sets each anchor of the served page to its own URL once more.
  web.publish(
    '/hydrated.html',
    `${HEAD}<a id="smart" href="{service}/{smart 1}">smart</a> <a id="raw" href="{kettles}/p/5">raw</a>
    <script>
      const written = Array.from(document.links, (anchor) => anchor.getAttribute('href'))
      const hydrate = () => written.forEach((href, at) => { document.links[at].href = href })
    </script>`,
  )
  const { page, quiet, auctions, url, errors } = await visit(t, 'hydrated.html')
  await passTime(page, 1_200)
  await page.evaluate('hydrate()')
  await passTime(page, 1_300)
  await quiet()
  for (const id of ['smart', 'raw']) {
    await redirectOf(page, id)
    assert.equal(await attribute(page, id, 'rel'), 'sponsored nofollow')
  }
  const { links, viewable } = await network.recorded(url)
  assert.equal(links.length, 2)
  assert.deepEqual(viewable, links)
  assert.equal(auctions.length, 2, 'one auction for each smart link')
  assert.deepEqual(errors, [])
})

test('gives up on a page that never stops rewriting its URLs', async (t) => {
  web.publish(
    '/stubborn.html',
    `${HEAD}${'<a href="{service}/{smart 1}">smart</a> '.repeat(200)}
    <script>
      const written = document.links[0].href
      new MutationObserver(() => {
        for (const anchor of document.links) if (anchor.href !== written) anchor.href = written
      }).observe(document, { subtree: true, attributeFilter: ['href'] })
    </script>`,
  )
  const { page, quiet, errors } = await visit(t, 'stubborn.html')
  await page.evaluate(() => {
    Object.assign(window, { led: 0 })
    addEventListener('souk:auction', () => Object.assign(window, { led: led() + 1 }))
    const led = () => (window as unknown as { led: number }).led
  })
  await passTime(page, 4_000)
  const led = await page.evaluate('led')
  await passTime(page, 1_000)
  await quiet()
  assert.equal(await page.evaluate('led'), led)
  assert.deepEqual(errors, [])
})

test('counts each article once on a page that replaces its body and runs its scripts again', async (t) => {
  web.publish(
    '/replaced.html',
    `<!doctype html><title>A page</title><body>
    <script>window.souk = { u1: 'news' }</script>
    <script src="{service}/tag/souk.js" data-publisher="daily"></script>
    <a id="smart" href="{service}/{smart 1}">smart</a>
    </body>`,
  )
  const visited = await visit(t, 'replaced.html')
  const { page, quiet, requests, url, errors } = visited
  const articles = ['/article-2', '/article-3', '/article-4']
  for (const article of articles) {
    // As Turbo and pjax do.
    await page.evaluate(async (path) => {
      const answer = await fetch('/replaced.html')
      document.body = new DOMParser().parseFromString(await answer.text(), 'text/html').body
      for (const inert of document.body.querySelectorAll('script')) {
        const script = document.createElement('script')
        for (const { name, value } of inert.attributes) script.setAttribute(name, value)
        script.text = inert.text
        inert.replaceWith(script)
      }
      history.pushState({}, '', path)
    }, article)
    await quiet()
    assert.equal((await redirectOf(page, 'smart')).searchParams.get('u1'), 'news')
  }
  for (const article of articles) {
    const { pages, links } = await network.recorded(new URL(article, url).href)
    assert.deepEqual([pages, links], [1, [first]], article)
  }
  assert.equal(visited.auctions.length, 4)
  assert.equal(requests.filter((request) => request.includes('/api/v1/pixel/')).length, 4)
  assert.deepEqual(errors, [])
})

test('applies a new `souk` object from the next article on, and keeps settings it does not name', async (t) => {
  const { page, quiet } = await visit(t, 'settings.html')
  await page.evaluate(() => {
    Object.assign(window, { souk: { u1: 'sport' } })
    history.pushState({}, '', '/another-article')
  })
  await quiet()
  assert.equal((await redirectOf(page, 'in')).searchParams.get('u1'), 'sport')
  assert.equal(await attribute(page, 'in', 'rel'), null)
})

test('leaves links alone in a text that the reader edits', async (t) => {
  const draft = `<a href="{kettles}/p/6">raw</a> <a href="{service}/{smart 2}">smart</a>`
  web.publish(
    '/editor.html',
    `${HEAD}<div contenteditable="true"><p>${draft}</p></div>
    <div contenteditable="false"><a id="shown" href="{service}/{smart 2}">smart</a></div>`,
  )
  const { page, auctions, url } = await visit(t, 'editor.html')
  await redirectOf(page, 'shown')
  const written = await page.locator('[contenteditable=true] p').innerHTML()
  assert.equal(
    written,
    draft
      .replace('{kettles}', web.host('kettles'))
      .replace('{service}/{smart 2}', `${service}/${second}`),
  )
  assert.equal(auctions.length, 1)
  assert.deepEqual((await network.recorded(url)).links, [second])
})

test('a link costs as little on a page of a thousand as on one of ten', async (t) => {
  const reads: number[] = []
  for (const count of [10, 1_000]) {
    web.publish(
      '/many.html',
      `<!doctype html><title>Many</title>
       <script>
         const href = Object.getOwnPropertyDescriptor(HTMLAnchorElement.prototype, 'href')
         window.reads = 0
         const get = function () { window.reads++; return href.get.call(this) }
         Object.defineProperty(HTMLAnchorElement.prototype, 'href', { ...href, get })
       </script>
       ${'<a href="/local">here</a>'.repeat(count)}
       <script src="{service}/tag/souk.js" data-publisher="daily"></script>`,
    )
    const { page, quiet, errors } = await openPage(t)
    await page.goto(`${web.host('daily')}/many.html`)
    await page.waitForFunction((least) => Reflect.get(window, 'reads') >= least, count)
    await quiet()
    await passTime(page, 2_000)
    reads.push((await page.evaluate(() => Number(Reflect.get(window, 'reads')))) / count)
    assert.deepEqual(errors, [])
  }
  const [few = 0, many = 0] = reads
  assert.ok(few > 1 && many < 2 * few, `${many} looks at each of a thousand, ${few} at each of ten`)
})
