/** The few pages a reader may see instead of a shop: plain, self-contained, without script. */

import type { HotReply } from '../platform/http/hot-http.ts'
import { hostForDisplay } from '../platform/net/url.ts'
import { type Html, html } from '../platform/text/html.ts'

/** A browser that does not know light-dark() takes its own colours of the reader's scheme. */
const STYLE = `:root{color-scheme:light dark}body{font:1.125rem/1.5 system-ui,sans-serif;
max-width:32rem;margin:20vh auto 0;padding:0 1.25rem;color:light-dark(#1c1917,#e7e5e4);
background:light-dark(#fafaf9,#1c1917)}a{color:light-dark(#0f766e,#5eead4);font-weight:600}
h1,a{overflow-wrap:anywhere}h1{font-size:1.5rem}
p.note{color:light-dark(#57534e,#a8a29e);font-size:1rem}`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
  // Our own addresses carry page sessions and sealed results, which are nobody else's business.
  'referrer-policy': 'strict-origin',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'", // A click on "Continue" must be on what it says.
  ].join('; '),
}

export function messagePage(status: number, title: string, text: string): HotReply {
  return {
    status,
    headers: { ...HEADERS },
    body: page(title, html`<h1>${title}</h1><p>${text}</p>`),
  }
}

/** An address of ours that leads nowhere: the link is damaged, or was never made. */
export function lostPage(): HotReply {
  const text = 'Nothing is known under this address. Please go back and try another link.'
  return messagePage(404, 'This link leads nowhere', text)
}

/** The browser sent more than is read: in practice cookies, so the way out is without them. */
export function tooLongPage(): HotReply {
  const text =
    'Your browser sent too much data with this link, usually cookies. Delete the cookies of this ' +
    'site, or open the link in a private window.'
  return messagePage(431, 'This link could not be opened', text)
}

/** Shown to a reader who comes from elsewhere: names the host and lets the reader decide. */
export function leavingPage(url: string): HotReply {
  const { shown: host, ascii } = hostForDisplay(url)
  // Letters of two alphabets can look alike: the name that a browser looks up tells them apart.
  const inAscii = ascii === host ? null : html`<p class="note">Its technical name is ${ascii}.</p>`
  const content = html`<h1>You are leaving for ${host}</h1>
<p><a rel="noopener nofollow" href="${url}">Continue to ${host}</a></p>
${inAscii}
<p class="note">This link was not opened from the page it was made for, so it does not forward by
itself.</p>`
  return { status: 200, headers: { ...HEADERS }, body: page(`Continue to ${host}`, content) }
}

/** Storage is away and this node does not hold the link: the page tries again by itself. */
export function retryPage(): HotReply {
  const content = html`<h1>One moment, please</h1><p>The link could not be looked up just now. This
page tries again by itself.</p>`
  return {
    status: 503,
    // What comes next has no page: ours is not the one that the reader was on.
    headers: { ...HEADERS, 'retry-after': '2', refresh: '2', 'referrer-policy': 'no-referrer' },
    body: page('One moment, please', content),
  }
}

function page(title: string, content: Html): string {
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots"
content="noindex"><style>${STYLE}</style><body><main>${content}</main></body></html>`.html
}
