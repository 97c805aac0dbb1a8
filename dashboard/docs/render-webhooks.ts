/** Renders the page of webhooks from the events and the schemas of src/webhooks/. */
import { type Html, html } from '../../src/platform/text/html.ts'
import { NOTICES, type NoticeDescription } from '../../src/webhooks/notice-schema.ts'
import {
  ATTEMPTS_MAX,
  DELIVERY_DAYS,
  FAILURES_MAX,
  nextAttemptAt,
  RETRIED_HOURS,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from '../../src/webhooks/webhook.ts'
import { codeBlock } from './code-block.ts'
import { codeTabs } from './code-tabs.ts'
import { titleLine } from './markdown.ts'
import type { Page } from './page.ts'
import { fieldTable } from './render-operation.ts'
import { exampleOf, fieldsOf, type Schema } from './schema-fields.ts'
import { RECEIVERS } from './webhook-receivers.ts'

export function webhooksPage(): Page {
  const parts = [
    { id: 'create', title: 'Create a webhook', text: creation() },
    { id: 'delivery', title: 'A delivery', text: delivery() },
    { id: 'signature', title: 'Verify the signature', text: verification() },
    { id: 'retries', title: 'Retries', text: retries() },
    ...WEBHOOK_EVENTS.map((event) => ({ id: event, title: event, text: renderEvent(event) })),
  ]
  return {
    path: 'webhooks/',
    title: 'Webhooks',
    lead: 'Souk sends signed notices of orders, returns, payouts and API keys to your server.',
    body: html`<div class="prose">${parts.map(
      ({ id, title, text }) => html`${titleLine(id, 2, html`${title}`)}${text}`,
    )}</div>`,
    headings: parts.map(({ id, title }) => ({ id, text: title, depth: 2 })),
    sections: parts.map(({ id, title, text }) => ({
      ...{ id, heading: title },
      text: text.html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '),
    })),
  }
}

function creation(): Html {
  return html`<p>Call <a class="link" href="/docs/api/publishers/#createWebhook">Create a webhook</a>
    of your publisher, or <a class="link" href="/docs/api/merchants/#createMerchantWebhook">of your
    merchant</a>, with your URL and the events. The answer shows the secret once.</p>`
}

function delivery(): Html {
  const body = {
    event: 'payout.ready',
    delivery_id: '1001',
    created_at: '2026-12-01T06:00:00Z',
    data: example(NOTICES['payout.ready'].publisher),
  }
  return html`<p>Each delivery is a POST of JSON:</p>${codeBlock(JSON.stringify(body, null, 2))}
    <p>Its headers are <code>X-Souk-Event</code>, <code>X-Souk-Delivery</code>,
    <code>X-Souk-Timestamp</code> and <code>X-Souk-Signature</code>. Answer with any 2xx status within
    ten seconds. Souk follows no redirects.</p>
    <p>A delivery may arrive twice, and deliveries may arrive in any order. Remember the
    <code>delivery_id</code>, and ignore one that you have handled.</p>`
}

function verification(): Html {
  return html`<p>The signature is the hexadecimal HMAC-SHA256 of the timestamp, a dot and the exact
    bytes of the body. Its key is the text of the webhook’s secret.</p>
    ${codeTabs('receiver', RECEIVERS)}`
}

/** The pauses before the first retries, as words. */
const PAUSES_SHOWN = 4

function retries(): Html {
  const now = new Date(0)
  const pauses = Array.from({ length: PAUSES_SHOWN }, (_, at) => {
    const seconds = (nextAttemptAt(at + 1, now)?.getTime() ?? 0) / 1_000
    return seconds < 60 ? `${seconds} seconds` : `${seconds / 60} minutes`
  })
  return html`<p>Souk retries a failed delivery after ${pauses.join(', then ')}. Pauses double up to
    six hours, for ${RETRIED_HOURS} hours and ${ATTEMPTS_MAX} attempts in all. A retry has the same
    <code>delivery_id</code> and a new timestamp.</p>
    <p>Souk disables a webhook if a delivery fails for the last time and ${FAILURES_MAX} attempts
    in a row have failed. It never sends events from the time until you enable the webhook
    again.</p>
    <p>For ${DELIVERY_DAYS} days you can
    <a class="link" href="/docs/api/publishers/#listDeliveries">list the deliveries</a> with their last
    error, and <a class="link" href="/docs/api/publishers/#replayDelivery">send one again</a>.</p>`
}

function renderEvent(event: WebhookEvent): Html {
  const { summary, publisher, merchant } = NOTICES[event]
  return html`<p>${summary} ${receiversOf(NOTICES[event])}</p>
    ${codeBlock(JSON.stringify(example(publisher), null, 2))}
    ${fieldTable('Data for a publisher', fieldsOf(toSchema(publisher)))}
    ${merchant === null ? null : fieldTable('Data for a merchant', fieldsOf(toSchema(merchant)))}`
}

const receiversOf = ({ merchant }: NoticeDescription): string =>
  merchant === null ? 'Sent to publishers.' : 'Sent to publishers and merchants.'

const toSchema = (fields: NoticeDescription['publisher']): Schema => ({
  type: 'object',
  properties: fields as Readonly<Record<string, Schema>>,
  required: Object.keys(fields),
})

const example = (fields: NoticeDescription['publisher']): unknown => exampleOf(toSchema(fields))
