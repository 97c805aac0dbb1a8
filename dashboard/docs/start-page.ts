/** The start page: a short explanation of Souk, and where to begin by role. */
import { type Html, html } from '../../src/platform/text/html.ts'
import { titleLine } from './markdown.ts'
import type { Page } from './page.ts'
import { endpointIndex } from './render-reference.ts'

interface Role {
  readonly title: string
  readonly words: string
  readonly links: readonly (readonly [string, string])[]
}

const ROLES: readonly Role[] = [
  {
    title: 'You publish articles',
    words: 'Turn the product links of your articles into links that earn, and see what each earns.',
    links: [
      ['guides/embed-the-tag/', 'Embed the tag'],
      ['guides/create-links/', 'Create links'],
      ['guides/match-products/', 'Match products'],
      ['guides/read-statistics/', 'Read statistics'],
    ],
  },
  {
    title: 'You run a shop',
    words: 'Bid for readers who are about to buy, and report their orders.',
    links: [
      ['guides/send-orders/', 'Send orders'],
      ['tag/#for-merchants', 'The merchant tag'],
      ['rules/feeds/', 'Product feeds'],
      ['rules/budgets/', 'Budgets and bids'],
    ],
  },
  {
    title: 'You write programs',
    words: 'Everything that the dashboard does is a documented endpoint.',
    links: [
      ['api/', 'API overview'],
      ['webhooks/', 'Webhooks'],
      ['errors/', 'Errors'],
      ['rules/limits/', 'Limits'],
    ],
  },
  {
    title: 'You operate a network',
    words: 'Install Souk on your own machine, and keep it running.',
    links: [
      ['operations/', 'Operations'],
      ['security/', 'Security'],
      ['performance/', 'Performance'],
      ['api/network/', 'Network endpoints'],
    ],
  },
]

export function startPage(reference: readonly Page[]): Page {
  return {
    path: '',
    title: 'Start',
    lead: 'Souk is an open exchange for commerce links, which you host yourself.',
    body: html`<div class="prose">
      <p>Articles recommend products. Souk turns the product links in an article into
      <em>smart links</em>. When a reader opens the page, the merchants that sell the product
      compete in an auction for the click. The link leads to the winner, and the publisher earns.
      Everyone concerned can check every price and every cent.</p>
      ${titleLine('start', 2, html`Where to start`)}
      <div class="cards">${ROLES.map(card)}</div>
      ${titleLine('click', 2, html`One click, from the article to the money`)}
      <ol>
        <li>The publisher’s page tag finds the smart links and asks for one auction per link.</li>
        <li>Souk compares the bids of all merchants that sell the product
          (<a class="link" href="/docs/rules/auction/">Auction</a>).</li>
        <li>The reader clicks. Souk records the click and redirects the reader to the winner’s shop
          (<a class="link" href="/docs/rules/clicks/">Which clicks are paid</a>).</li>
        <li>The shop reports the order
          (<a class="link" href="/docs/rules/orders-and-money/">Orders and money</a>).</li>
        <li>The merchant pays the network, and the network pays the publisher.</li>
      </ol>
      ${titleLine('endpoints', 2, html`Every endpoint`)}
      <details class="fold"><summary>Show the list</summary>${endpointIndex(reference)}
      <h3>More</h3><ul class="index"><li id="errors"><a class="link" href="/docs/errors/">Errors</a></li></ul></details>
    </div>`,
    headings: [],
    sections: [
      {
        id: '',
        heading: 'Souk documentation',
        text: 'start smart links auction publisher merchant operator role',
      },
    ],
  }
}

function card({ title, words, links }: Role): Html {
  return html`<section class="card"><h3>${title}</h3><p>${words}</p><ul>${links.map(
    ([path, text]) => html`<li><a class="link" href="/docs/${path}">${text}</a></li>`,
  )}</ul></section>`
}
