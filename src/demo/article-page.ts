/** An article of the demo: a publisher's page with the tag and nothing else. */
import { type Html, html } from '../platform/text/html.ts'
import { type DemoArticle, type DemoPick, type DemoPublisher, pickedOffer } from './network.ts'

const STYLE: Html = {
  html: `:root{--ink:#1f1b16;--soft:#6b6257;--line:#e4ddd2;--paper:#fbf9f5;--accent:#9a3b1f}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:1.1875rem/1.65 Charter,"Iowan Old Style","Palatino Linotype",Georgia,serif}
header.site{border-bottom:1px solid var(--line);padding:1rem 1.25rem;display:flex;gap:1rem;
align-items:baseline;flex-wrap:wrap}header.site a{color:inherit;text-decoration:none;
font-weight:700;font-size:1.35rem;letter-spacing:-.01em}header.site span{color:var(--soft);
font-size:.95rem;font-style:italic}main{max-width:42rem;margin:0 auto;padding:2.5rem 1.25rem 5rem}
h1{font-size:clamp(2rem,6vw,2.9rem);line-height:1.12;letter-spacing:-.02em;margin:0 0 1rem}
.standfirst{font-size:1.3rem;line-height:1.45;color:var(--soft);margin:0 0 1.25rem}
.by{font:.9rem/1.4 system-ui,sans-serif;color:var(--soft);border-bottom:1px solid var(--line);
padding-bottom:1.25rem;margin:0 0 2rem}a{color:var(--accent)}
.pick{border-top:1px solid var(--line);padding:2.25rem 0 .5rem}
.pick h2{font-size:1.6rem;line-height:1.2;margin:.15rem 0 .9rem;letter-spacing:-.01em}
.verdict{font:600 .8rem/1 system-ui,sans-serif;letter-spacing:.09em;text-transform:uppercase;
color:var(--accent);margin:0}.pick img{width:100%;height:auto;display:block;border-radius:.35rem}
.buy{display:block;font:600 1rem/1.3 system-ui,sans-serif;background:var(--ink);color:#fff;
text-decoration:none;padding:.95rem 1.15rem;border-radius:.35rem;margin:1.1rem 0 .4rem;
text-align:center}.buy:hover,.buy:focus-visible{background:var(--accent)}
.note{font:.85rem/1.5 system-ui,sans-serif;color:var(--soft)}
aside{background:#f1ece2;border-radius:.35rem;padding:1rem 1.25rem;margin:3rem 0 0}
footer{font:.85rem/1.6 system-ui,sans-serif;color:var(--soft);margin-top:3rem}
footer ul{margin:.25rem 0 1rem;padding-left:1.25rem}`,
}

export interface ArticlePage {
  readonly publisher: DemoPublisher
  readonly article: DemoArticle
  readonly tagUrl: string
  readonly siteUrl: string
  /** The URL of a pick's links: its smart link, or the shop's page for LinkMate. */
  readonly linkOf: (pick: DemoPick) => string
  readonly pictureOf: (gtin: string) => string
  readonly others: readonly { readonly title: string; readonly url: string }[]
}

export function articlePage(page: ArticlePage): string {
  const { publisher, article } = page
  const paragraphs = article.opening.map((text) => html`<p>${text}</p>`)
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${article.title} · ${publisher.name}</title>
<meta name="description" content="${article.standfirst}">
<link rel="canonical" href="${page.siteUrl}/${article.slug}">
<link rel="icon" href="data:,"><style>${STYLE}</style>
<script async src="${page.tagUrl}" data-publisher="${publisher.slug}"></script></head>
<body><header class="site"><a href="${page.siteUrl}/">${publisher.name}</a>
<span>${publisher.claim}</span></header>
<main><article><h1>${article.title}</h1><p class="standfirst">${article.standfirst}</p>
<p class="by">By ${article.author} · <time datetime="${article.published}">${dayOf(article)}</time></p>
${paragraphs}${article.picks.map((pick) => pickSection(page, pick))}
<p>${article.closing}</p></article>
<aside class="note">When you buy through a link here, ${publisher.name} may earn a commission. Shops
compete for each link; the button says who won, and at what price.</aside>
<footer>More to read:<ul>${page.others.map(
    ({ title, url }) => html`<li><a href="${url}">${title}</a></li>`,
  )}</ul>A page of the Souk demo. Shops, goods and prices are invented.</footer></main></body></html>`
    .html
}

function pickSection(page: ArticlePage, pick: DemoPick): Html {
  const { product } = pickedOffer(pick)
  const link = page.linkOf(pick)
  return html`<section class="pick"><p class="verdict">${pick.verdict}</p>
<h2><a href="${link}">${product.name}</a></h2>
<img src="${page.pictureOf(product.gtin)}" alt="${product.name}" width="370" height="320" loading="lazy">
<p>${pick.text}</p>
<a class="buy" href="${link}" data-souk-text="{price} at {merchant}">See today’s price</a></section>`
}

function dayOf({ published }: DemoArticle): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(published),
  )
}

/** The front page of a demo publisher. */
export function frontPage(
  publisher: DemoPublisher,
  articles: readonly { readonly article: DemoArticle; readonly url: string }[],
): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${publisher.name}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">
<style>${STYLE}</style></head><body><header class="site"><a href="/">${publisher.name}</a>
<span>${publisher.claim}</span></header><main><h1>Our latest advice</h1>${articles.map(
    ({ article, url }) => html`<section class="pick"><h2><a href="${url}">${article.title}</a></h2>
<p>${article.standfirst}</p><p class="note">By ${article.author} · ${dayOf(article)}</p></section>`,
  )}</main></body></html>`.html
}
