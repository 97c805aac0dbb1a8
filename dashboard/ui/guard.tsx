/**
 * Shows a page only where it belongs: to the organization of the URL, if the user may see it there.
 * Otherwise it says so and offers to switch. It never shows another organization instead.
 */
import { Navigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAddress } from '../address.ts'
import { hasPage, type Membership, nameOf } from '../membership.ts'
import type { PageEntry } from '../navigation.ts'
import { START } from '../navigation.ts'
import { OrganizationContext, useChosen, usePage, useSwitch } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { useMe } from '../session.ts'
import { EmptyState, NoPermission } from './notice.tsx'

export function Guard({ children }: { children: ReactNode }) {
  const page = usePage()
  const chosen = useChosen()
  const [{ org }] = useAddress()
  if (page === undefined || page.kind === 'person') return children
  if (chosen === undefined) return null // The name of a foreign organization is loading.
  if (chosen === null) {
    if (org === 'network') return <OnlyOperator page={page} />
    if (org !== undefined) return <NotYours org={org} page={page} />
    return isForAnybody(page) ? children : <NoOrganization />
  }
  if (page.kind !== 'any' && page.kind !== chosen.organization.kind) {
    const start = START[chosen.organization.kind]
    const isStart = page.path === PATHS.overview
    return isStart ? <Navigate to={start} replace /> : <OtherKind page={page} chosen={chosen} />
  }
  if (!hasPage(chosen, page)) return <NoPermission page={page.label} role={chosen.role} />
  return (
    // Remounts for another organization, so that form input and new links do not carry over.
    <OrganizationContext value={chosen} key={nameOf(chosen.organization)}>
      {children}
    </OrganizationContext>
  )
}

const isForAnybody = (page: PageEntry) => page.kind === 'any' && page.permission === undefined

/** As many as fit on a screen; the switcher has all. */
const OFFERED_MAX = 6

function NotYours({ org, page }: { org: string; page: PageEntry }) {
  const [kind = '', id = ''] = org.split('-')
  return (
    <EmptyState title={`This ${kind} is not yours`} isPage>
      <p>
        The URL names {kind} {id}. Your account does not belong to it, or it does not exist.
      </p>
      <Offers page={page} />
    </EmptyState>
  )
}

function OtherKind({ page, chosen }: { page: PageEntry; chosen: Membership }) {
  if (page.kind === 'network') return <OnlyOperator page={page} />
  return (
    <EmptyState title={`This page belongs to a ${page.kind}`} isPage>
      <p>
        <bdi>{chosen.name}</bdi> is a {chosen.organization.kind}, which does not have this page.
      </p>
      <Offers page={page} />
    </EmptyState>
  )
}

function OnlyOperator({ page }: { page: PageEntry }) {
  return (
    <EmptyState title="Only for the operator" isPage icon="lock">
      This page is for people who run the network. Ask an administrator for a role in it.
      <Offers page={page} />
    </EmptyState>
  )
}

/** Offers the user's organizations that have the page, or else all. */
function Offers({ page }: { page: PageEntry }) {
  const { data: me } = useMe()
  const switchTo = useSwitch()
  const all = me?.memberships ?? []
  const suited = all.filter((one) => hasPage(one, page))
  const own = suited.length > 0 ? suited : all
  if (own.length === 0) return null
  return (
    <>
      <p className="mt-4">Switch to one of yours:</p>
      <div className="mt-2 flex flex-wrap justify-center gap-2">
        {own.slice(0, OFFERED_MAX).map((one) => (
          <button
            key={nameOf(one.organization)}
            type="button"
            className="button"
            onClick={() => switchTo(one)}
          >
            <bdi>{one.name}</bdi>
          </button>
        ))}
      </div>
    </>
  )
}

function NoOrganization() {
  const { data: me } = useMe()
  return (
    <EmptyState title="Your account has no organization yet" isPage>
      Ask the operator of this service, or the owner of your publisher or merchant, to invite{' '}
      <bdi>{me?.email}</bdi>.
    </EmptyState>
  )
}
