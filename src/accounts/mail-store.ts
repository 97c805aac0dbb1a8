/**
 * Mail that waits to be sent. It is queued in the transaction of its cause, so that neither
 * happens without the other; a worker then sends it at once (sign-in/send-mail.ts).
 */
import type { Mail } from '../platform/net/mail.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** Anybody may ask for a new password; more than these waiting at once are not people. */
const RESETS_WAITING_MAX = 1_000
/** A worker that sends this many has used up the minute until its next run. */
const MAILS_AT_ONCE = 20

/** A mail, or the request for a new password by the address's owner. */
export type QueuedMail = { readonly mail_id: string; readonly recipient: string } & {
  readonly attempts: number // this one included
  readonly datetime_created: Date
} & (
    | { readonly kind: 'text'; readonly subject: string; readonly body: string }
    | { readonly kind: 'password_reset' }
  )

export async function queueMail(tx: Db, mail: Mail & { readonly now: Date }): Promise<void> {
  const { to, subject, text, now } = mail
  await tx.run(sql`
    insert into outgoing_mail (kind, recipient, subject, body, due_at, datetime_created)
    values ('text', ${to}, ${subject}, ${text}, ${now}, ${now})`)
}

/** The same work for every address, so that its time does not show who has an account. */
export async function queuePasswordReset(
  db: Db,
  { email, now }: { readonly email: string; readonly now: Date },
): Promise<void> {
  await db.run(sql`
    insert into outgoing_mail (kind, recipient, due_at, datetime_created)
    select 'password_reset', ${email}, ${now}::timestamptz, ${now}::timestamptz
    where (select count(*) from outgoing_mail where kind = 'password_reset')
      < ${RESETS_WAITING_MAX}
    on conflict do nothing`)
}

/**
 * Takes mail that is due. Each is due again after its number of attempts squared in minutes, should
 * sending it fail or its process die.
 */
export function takeDueMail(db: Db, now: Date): Promise<QueuedMail[]> {
  return db.rows(sql`
    update outgoing_mail set attempts = attempts + 1,
      due_at = ${now}::timestamptz + make_interval(mins => (attempts + 1) * (attempts + 1))
    where mail_id in (
      select mail_id from outgoing_mail where due_at <= ${now} order by due_at
      limit ${MAILS_AT_ONCE} for update skip locked
    )
    returning mail_id, kind, recipient, subject, body, attempts, datetime_created`)
}

export async function deleteMail(db: Db, mailId: string): Promise<void> {
  await db.run(sql`delete from outgoing_mail where mail_id = ${mailId}`)
}
