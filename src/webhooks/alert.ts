/** Messages to people of a publisher: their kinds, rules and texts. Pure. */
import { isEmail } from '../accounts/user.ts'
import type { Fault } from '../platform/errors/api-errors.ts'
import type { Mail } from '../platform/net/mail.ts'
import { parseWebUrl } from '../platform/net/url.ts'

export const ALERT_KINDS = [
  'link_stopped', // A link that earned stops earning.
  'merchant_trouble', // A merchant is out of stock, or late in paying.
  'payout_ready',
  'no_tag_traffic', // For 24 hours.
  'key_from_new_place',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

export const EMAILS_MAX = 20
const WEBHOOK_LENGTH_MAX = 2048

/** What a kind says, where it is seen, and how many days it is not repeated while it lasts. */
const KINDS: Readonly<
  Record<AlertKind, { readonly subject: string; readonly page: string; readonly quietDays: number }>
> = {
  link_stopped: { subject: 'Links stopped earning', page: 'links', quietDays: 1 },
  merchant_trouble: { subject: 'Merchants need attention', page: 'links', quietDays: 7 },
  payout_ready: { subject: 'A payout is ready', page: 'payments', quietDays: 400 },
  no_tag_traffic: { subject: 'The page tag reports nothing', page: '', quietDays: 7 },
  key_from_new_place: {
    subject: 'An API key was used from a new place',
    page: 'developer',
    quietDays: 1,
  },
}

export const quietDaysOf = (kind: AlertKind): number => KINDS[kind].quietDays

/** Something that happened. An event with the same key is sent at most once a day. */
export interface AlertEvent {
  readonly kind: AlertKind
  readonly key: string
  readonly line: string
}

export interface AlertSettings {
  readonly kinds: readonly AlertKind[]
  readonly emails: readonly string[]
  readonly webhookUrl: string | null
}

export function alertFaults({ emails, webhookUrl }: AlertSettings): Fault[] {
  const faults: Fault[] = []
  emails.forEach((email, at) => {
    if (!isEmail(email)) faults.push({ field: `emails[${at}]`, rule: 'must be an e-mail address' })
  })
  if (webhookUrl === null) return faults
  const url = parseWebUrl(webhookUrl)
  if (url === null || webhookUrl.length > WEBHOOK_LENGTH_MAX || url.username || url.password) {
    const rule = `must be an http(s) URL of at most ${WEBHOOK_LENGTH_MAX} characters, without a password`
    faults.push({ field: 'webhook_url', rule })
  }
  return faults
}

/** More lines than anybody reads in a message. */
const LINES_MAX = 20

interface Message {
  readonly kind: AlertKind
  readonly publisherName: string
  readonly lines: readonly string[]
  readonly baseUrl: string
  readonly pubId: number
}

export function alertSubject({ kind, publisherName }: Message): string {
  // A name is somebody's text: it must not start another header line.
  return `${publisherName.replaceAll(/\s+/g, ' ').trim()}: ${KINDS[kind].subject}`
}

export function alertText(message: Message): string {
  const { kind, lines, baseUrl, pubId } = message
  const { page } = KINDS[kind]
  const more = lines.length - LINES_MAX
  return [
    ...lines.slice(0, LINES_MAX).map((line) => `- ${line.replaceAll(/\s+/g, ' ')}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
    `See ${baseUrl}/dashboard/${page}?org=publisher-${pubId}`,
  ].join('\n')
}

/** The path of the page that ends messages to an address without a sign-in. */
export const unsubscribePath = (token: string) => `/alerts/unsubscribe/${token}/`

export function alertMail(message: Message, to: { email: string; token: string }): Mail {
  const stop = `${message.baseUrl}${unsubscribePath(to.token)}`
  return {
    to: to.email,
    subject: alertSubject(message),
    text: `${alertText(message)}\n\nNo more messages to this address: ${stop}\n`,
  }
}

/** As Slack and services like it read it. */
export function alertPost(message: Message): { readonly text: string } {
  // Slack reads these three as its own markup.
  const escaped = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return { text: escaped(`${alertSubject(message)}\n${alertText(message)}`) }
}
