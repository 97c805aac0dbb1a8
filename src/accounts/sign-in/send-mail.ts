/** Sends the mail that waits (mail-store.ts). */
import { type Mailer, type MailServer, openMailer } from '../../platform/net/mail.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { HOUR_MS } from '../../platform/time/timestamp.ts'
import { deleteMail, type QueuedMail, takeDueMail } from '../mail-store.ts'
import { findUserByEmail } from '../store.ts'
import { makeResetLink, resetMail } from './password-reset.ts'
import { deleteReset } from './password-reset-store.ts'

/** With pauses of 1, 4, 9, … minutes: about six hours. */
const ATTEMPTS_MAX = 11
/** Nobody waits for a new password longer. */
const RESET_WAITS_MS = HOUR_MS

export interface MailDeps {
  readonly db: Db
  readonly server: MailServer | null
  readonly baseUrl: string
  readonly now: () => Date
  /** Called for a mail that could not be sent; `isLast`: it will not be tried again. */
  readonly onFailed: (error: unknown, isLast: boolean) => void
}

/** Sends all mail that is due. Without a server there is no mail: it is dropped. */
export async function sendMail({ server, ...deps }: MailDeps): Promise<void> {
  const mailer = server === null ? NO_MAILER : openMailer(server)
  try {
    for (;;) {
      const mails = await takeDueMail(deps.db, deps.now())
      if (mails.length === 0) return
      for (const mail of mails) await sendOne(mail, { ...deps, mailer })
    }
  } finally {
    mailer.close()
  }
}

const NO_MAILER: Mailer = { send: async () => undefined, close: () => undefined }

type Sending = Omit<MailDeps, 'server'> & { readonly mailer: Mailer }

async function sendOne(mail: QueuedMail, deps: Sending): Promise<void> {
  const { db, mailer, now, onFailed } = deps
  const waitedMs = now().getTime() - mail.datetime_created.getTime()
  const isLate = mail.kind === 'password_reset' && waitedMs > RESET_WAITS_MS
  try {
    if (isLate) throw new Error('nobody waits for it any more')
    if (mail.kind === 'password_reset') await sendReset(mail.recipient, deps)
    else await mailer.send({ to: mail.recipient, subject: mail.subject, text: mail.body })
    await deleteMail(db, mail.mail_id)
  } catch (error) {
    const isLast = mail.attempts >= ATTEMPTS_MAX || isLate
    if (isLast) await deleteMail(db, mail.mail_id)
    onFailed(error, isLast)
  }
}

/** Sends a link, if somebody here has the address and may get one more. */
async function sendReset(email: string, { db, mailer, baseUrl, now }: Sending): Promise<void> {
  const user = await findUserByEmail(db, email)
  if (user === null) return
  const link = await makeResetLink(db, { uid: user.uid, baseUrl, now: now() })
  if (link === null) return
  // To the address of the account. The one that was typed may only look the same: PostgreSQL finds
  // `mike@` for `mİke@`, which somebody else may own.
  const sending = mailer.send({ to: user.email, ...resetMail(link, baseUrl) })
  await sending.catch(async (error) => {
    await deleteReset(db, link.tokenHash)
    throw error
  })
}
