/** Sends mail through the operator's own server (SMTP_URL). */
import nodemailer from 'nodemailer'

export interface MailServer {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string
  readonly from: string
}

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Resolves when the server has accepted the mail. */
  send(mail: Mail): Promise<void>
  close(): void
}

/** A server that takes longer is not reachable; the mail is sent again later. */
const TIMEOUT_MS = 10_000
/** The port for mail of programs (RFC 6409), and the one with TLS from the start (RFC 8314). */
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]']

/** Connects on first use. */
export function openMailer({ url, from }: MailServer): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url)
  const hasPassword = username !== ''
  const transport = nodemailer.createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || PORTS[protocol],
    secure: protocol === 'smtps:',
    // Nobody on the way may strip STARTTLS and read the password.
    requireTLS: hasPassword && !LOCAL_HOSTS.includes(hostname),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(hasPassword
      ? { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }
      : {}),
  })
  return {
    send: async (mail) => void (await transport.sendMail({ ...mail, from })),
    close: () => transport.close(),
  }
}
