/** The e-mail that brings an invitation. */
import type { Mail } from '../platform/net/mail.ts'
import { INVITATION_DAYS } from './invitation.ts'
import type { Role } from './permission.ts'

export function invitationMail(invitation: {
  readonly email: string
  readonly role: Role
  readonly name: string
  readonly url: string
}): Mail {
  const { email, role, url } = invitation
  // A name is somebody's text: it must not start another header line.
  const name = invitation.name.replaceAll(/\s+/g, ' ').trim()
  return {
    to: email,
    subject: `Invitation to ${name}`,
    text: [
      `You are invited to ${name}, with the role ${role}.`,
      `Accept within ${INVITATION_DAYS} days:`,
      url,
      'The link works once. If you did not expect this, ignore it: nothing happens.',
      '',
    ].join('\n\n'),
  }
}
