/** A mail server on loopback that keeps what it receives. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import type { Scope } from './database.ts'

export interface Received {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

export interface Mailbox {
  readonly url: string
  /** The next mail, in the order of arrival; waits for it. */
  next(): Promise<Received>
  /** The mails that nobody has taken yet. */
  readonly waiting: readonly Received[]
  /** Whether it refuses what it is sent from now on. */
  refuses: boolean
}

export async function startMailbox(scope: Scope): Promise<Mailbox> {
  const waiting: Received[] = []
  const takers: ((mail: Received) => void)[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      text(stream).then((raw) => {
        if (mailbox.refuses) return done(new Error('the mailbox is full'))
        const to = session.envelope.rcptTo.map(({ address }) => address)
        const mail = toReceived(raw, to)
        const taker = takers.shift()
        if (taker === undefined) waiting.push(mail)
        else taker(mail)
        return done()
      }, done)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  scope.after(() => new Promise<void>((resolve) => server.close(resolve)))
  const { port } = server.server.address() as AddressInfo
  const mailbox: Mailbox = {
    url: `smtp://127.0.0.1:${port}`,
    refuses: false,
    waiting,
    next: async () => waiting.shift() ?? new Promise((resolve) => takers.push(resolve)),
  }
  return mailbox
}

/** Reads plain text, as it is or quoted-printable (RFC 2045). */
function toReceived(raw: string, to: readonly string[]): Received {
  const [head = '', ...parts] = raw.split('\r\n\r\n')
  const body = parts.join('\n\n').replaceAll('\r\n', '\n')
  const [, subject = ''] = /^Subject: (.*)$/im.exec(head) ?? []
  const isQuoted = /^Content-Transfer-Encoding: quoted-printable$/im.test(head)
  const decoded = body
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { to, subject: subject.trim(), text: isQuoted ? decoded : body }
}
