/** Commands for users who cannot sign in any more. */
import { queueMail } from '../accounts/mail-store.ts'
import { perform } from '../accounts/operation.ts'
import {
  makeUserResetLink,
  type ResetDeps,
  resetUserFactors,
} from '../accounts/sign-in/member-factor-operations.ts'
import { findUserByEmail } from '../accounts/store.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { asShell } from './as-shell.ts'
import type { CommandContext } from './command.ts'

/** A link that sets a new password; the operator hands it over. */
export async function resetPasswordCommand(context: CommandContext, { email }: { email: string }) {
  const db = await context.database()
  const params = { uid: await requireUid(db, email) }
  const operation = makeUserResetLink(resetDeps(context))
  const [link] = await perform(operation, { ...asShell(context, db), params })
  return link
}

export async function resetSecondFactorCommand(
  context: CommandContext,
  { email }: { email: string },
) {
  const db = await context.database()
  const params = { uid: await requireUid(db, email) }
  const operation = resetUserFactors(resetDeps(context))
  const [removed] = await perform(operation, { ...asShell(context, db), params })
  return removed
}

function resetDeps({ config, now }: CommandContext): ResetDeps {
  const { baseUrl, mail, oidc } = config
  return {
    baseUrl,
    isPasswordOff: oidc?.isRequired === true,
    // A worker of the network sends it.
    queueMail: mail === null ? null : (tx, text) => queueMail(tx, { ...text, now: now() }),
  }
}

async function requireUid(db: Db, email: string): Promise<number> {
  const user = await findUserByEmail(db, email)
  if (user === null) throw badRequest([{ field: 'email', rule: `no user has ${email}` }])
  return user.uid
}
