/** Invitations: how long one is valid, and why one is refused. */
import { DAY_MS } from '../platform/time/timestamp.ts'

/** Long enough for a holiday; short, because any holder of the link can use it. */
export const INVITATION_DAYS = 7
/**
 * Open invitations of one organization, and those of its last 24 hours: enough for a large team,
 * too few to send unwanted mail through this service.
 */
export const INVITATIONS_MAX = 100
/** How long after its end an invitation's link still gets the reason. */
const EXPLAINED_DAYS = 30

export interface InvitationTimes {
  readonly datetime_expires: Date
  readonly datetime_accepted: Date | null
  readonly datetime_withdrawn: Date | null
}

export const expiryOf = (now: Date): Date => new Date(now.getTime() + INVITATION_DAYS * DAY_MS)

/** Invitations that ended before this time are deleted. */
export const explainedSince = (now: Date): Date => new Date(now.getTime() - EXPLAINED_DAYS * DAY_MS)

export type InvitationState = 'open' | 'accepted' | 'withdrawn' | 'expired'

export function stateOf(invitation: InvitationTimes, now: Date): InvitationState {
  if (invitation.datetime_accepted !== null) return 'accepted'
  if (invitation.datetime_withdrawn !== null) return 'withdrawn'
  return invitation.datetime_expires <= now ? 'expired' : 'open'
}

/** What a person reads whose link no longer works. */
export const REFUSALS: Readonly<Record<Exclude<InvitationState, 'open'>, string>> = {
  accepted: 'This invitation has been used. Log in with the account that accepted it.',
  withdrawn: 'This invitation was withdrawn. Ask for a new one.',
  expired: `This invitation has expired after ${INVITATION_DAYS} days. Ask for a new one.`,
}
export const UNKNOWN_INVITATION =
  'No such invitation. Check that you have the whole link, or ask for a new one.'

/** Leads a browser to the identity provider; with `?invitation=` it then accepts one. */
export const OIDC_PATH = '/api/v1/session/oidc/'
