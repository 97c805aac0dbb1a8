/** The few pages a reader may see instead of a shop: plain, self-contained, without script. */

import type { HotReply } from '../platform/http/hot-http.ts'
import { hostForDisplay } from '../platform/net/url.ts'
import { type Html, html } from '../platform/text/html.ts'

/** A browser without light-dark() uses its own colours for the reader's colour scheme. */
const STYLE = `:root{color-scheme:light dark}body{font:1.125rem/1.5 system-ui,sans-serif;
max-width:32rem;margin:20vh auto 0;padding:0 1.25rem;color:light-dark(#1c1917,#e7e5e4);
background:light-dark(#fafaf9,#1c1917)}a{color:light-dark(#0f766e,#5eead4);font-weight:600}
h1,a{overflow-wrap:anywhere}h1{font-size:1.5rem}
p.note{color:light-dark(#57534e,#a8a29e);font-size:1rem}`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
  // Our URLs contain page sessions and sealed results, which other sites must not see.
  'referrer-policy': 'strict-origin',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'", // No framing, so that nobody can overlay the "Continue" link.
  ].join('; '),
}

export function messagePage(status: number, title: string, text: string): HotReply {
  return {
    status,
    headers: { ...HEADERS },
    body: page(title, html`<h1>${title}</h1><p>${text}</p>`),
  }
}

/** A URL of ours without a link: damaged, or never created. */
export function lostPage(): HotReply {
  const text = 'There is no link at this URL. Please go back and try another link.'
  return messagePage(404, 'Link not found', text)
}

/**
 * The request header was too long, in practice because of cookies, so the fix is to open it
 * without.
 */
export function tooLongPage(): HotReply {
  const text =
    'Your browser sent too much data with this link, usually cookies. Delete the cookies of this ' +
    'site, or open the link in a private window.'
  return messagePage(431, 'This link could not be opened', text)
}

/** Shown to a reader from an unknown site: names the host and lets the reader decide. */
export function leavingPage(url: string): HotReply {
  const { shown: host, ascii } = hostForDisplay(url)
  // Letters of two alphabets can look alike: the ASCII name distinguishes them.
  const inAscii = ascii === host ? null : html`<p class="note">Its technical name is ${ascii}.</p>`
  const content = html`<h1>You are leaving for ${host}</h1>
<p><a rel="noopener nofollow" href="${url}">Continue to ${host}</a></p>
${inAscii}
<p class="note">This link was not opened from the page it was made for, so it does not forward by
itself.</p>`
  return { status: 200, headers: { ...HEADERS }, body: page(`Continue to ${host}`, content) }
}

/** The database is down and this node does not cache the link: the page retries by itself. */
export function retryPage(): HotReply {
  const content = html`<h1>One moment, please</h1><p>The link could not be looked up just now. This
page tries again by itself.</p>`
  return {
    status: 503,
    // The retried request gets no referrer: it would be this page, not the reader's article.
    headers: { ...HEADERS, 'retry-after': '2', refresh: '2', 'referrer-policy': 'no-referrer' },
    body: page('One moment, please', content),
  }
}

function page(title: string, content: Html): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots"
content="noindex"><style>${STYLE}</style><body><main>${content}</main></body></html>`.html
}
