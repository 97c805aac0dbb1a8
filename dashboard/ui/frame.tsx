/** The frame of every page: sidebar, top bar, and the page itself; or the log-in form. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { Link, Outlet, useLocation, useMatch } from '@tanstack/react-router'
import { Activity, useEffect, useState } from 'react'
import { isNotLoggedIn, type User } from '../api.ts'
import { START } from '../navigation.ts'
import { useChosen } from '../organization.ts'
import { LoginPage } from '../pages/login-page.tsx'
import { PATHS } from '../paths.ts'
import { useMe } from '../session.ts'
import { Guard } from './guard.tsx'
import { Icon } from './icon.tsx'
import { lazyPart } from './lazy-part.tsx'
import { Mark } from './mark.tsx'
import { Progress } from './notice.tsx'
import { PageMenu } from './page-menu.tsx'
import { PaletteButton } from './palette-button.tsx'

const AccountMenu = lazyPart(
  async () => (await import('./account-menu.tsx')).AccountMenu,
  () => (
    <span className="button button-small button-quiet print:hidden">
      <Icon name="person" />
    </span>
  ),
)
const OrganizationSwitch = lazyPart(
  async () => (await import('./organization-switch.tsx')).OrganizationSwitch,
  () => <OrganizationName />,
)
const Toasts = lazyPart(
  async () => (await import('./toasts.tsx')).Toasts,
  () => null,
)
const Drawer = lazyPart(
  async () => (await import('./dialog.tsx')).Drawer,
  () => null,
)

export function Frame() {
  const me = useMe()
  const isOut = isNotLoggedIn(me.error)
  if (useIsForAnybody()) return <Outlet />
  if (isOut || me.data !== undefined) {
    return (
      // The content security policy forbids style elements.
      <CSPProvider disableStyleElements>
        {isOut && <LoginPage isAgain={me.data !== undefined} />}
        {me.data !== undefined && (
          // Preserves the input for the next log-in. Meanwhile the page is hidden and sends no
          // calls.
          <Activity key={me.data.uid} mode={isOut ? 'hidden' : 'visible'}>
            <LoggedIn me={me.data} />
          </Activity>
        )}
      </CSPProvider>
    )
  }
  if (me.failureReason === null) return null // The page shows its own loading state.
  return (
    <main className="mx-auto max-w-lg space-y-4 p-6">
      <h1>Souk</h1>
      <Progress query={me} />
    </main>
  )
}

/** Pages for people without a session: an invited person may have no account yet. */
function useIsForAnybody(): boolean {
  const matches = [
    useMatch({ from: PATHS.invitation, shouldThrow: false }),
    useMatch({ from: PATHS.forgotPassword, shouldThrow: false }),
    useMatch({ from: PATHS.newPassword, shouldThrow: false }),
  ]
  return matches.some((match) => match !== undefined)
}

function LoggedIn({ me }: { me: User }) {
  return (
    <div className="lg:grid lg:grid-cols-[13.75rem_minmax(0,1fr)] print:block">
      <a href="#content" className="skip">
        Skip to the content
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col overflow-y-auto border-r border-line bg-panel px-3 pb-4 lg:flex print:hidden">
        <div className="flex h-14 shrink-0 items-center px-2">
          <Home />
        </div>
        <PageMenu />
      </aside>
      <div className="min-w-0">
        <TopBar me={me} />
        <Toasts />
        <main id="content" className="mx-auto max-w-[88rem] px-4 py-5 sm:px-6">
          <Guard>
            <Outlet />
          </Guard>
        </main>
      </div>
    </div>
  )
}

function Home() {
  const kind = useChosen()?.organization.kind ?? 'publisher'
  return (
    <Link to={START[kind]} className="flex items-center gap-2 font-semibold tracking-tight">
      <Mark />
      Souk
    </Link>
  )
}

function TopBar({ me }: { me: User }) {
  return (
    <header className="sticky top-0 z-10 flex h-14 items-center gap-2 border-b border-line bg-panel px-3 sm:px-6 print:static print:border-0">
      <PhoneMenu />
      {me.memberships.length > 1 ? (
        <OrganizationSwitch memberships={me.memberships} />
      ) : (
        <OrganizationName />
      )}
      <div className="grow" />
      <PaletteButton />
      <AccountMenu me={me} />
    </header>
  )
}

const OrganizationName = () => (
  <bdi className="min-w-0 truncate text-sm font-medium">{useChosen()?.name}</bdi>
)

/** The menu of a narrow screen. */
function PhoneMenu() {
  const [isOpen, setOpen] = useState(false)
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu.
  useEffect(() => setOpen(false), [pathname])
  return (
    <div className="lg:hidden print:hidden">
      <button
        type="button"
        aria-label="Menu"
        aria-haspopup="dialog"
        className="button button-small button-quiet"
        onClick={() => setOpen(true)}
      >
        <Icon name="menu" />
      </button>
      {isOpen && (
        <Drawer title="Menu" isOpen={isOpen} onOpenChange={setOpen}>
          <PageMenu onOpen={() => setOpen(false)} />
        </Drawer>
      )}
    </div>
  )
}
