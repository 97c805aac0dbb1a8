/** The frame of every page: name, menu, and choice of publisher or merchant, or the log-in form. */
import { Link, Outlet, useMatch } from '@tanstack/react-router'
import { Activity } from 'react'
import { isNotLoggedIn, type Merchant, type Publisher, type User } from '../api.ts'
import { useOrganizations } from '../organization.ts'
import { LoginPage } from '../pages/login-page.tsx'
import { PATHS } from '../paths.ts'
import {
  PublisherContext,
  useChosenMerchant,
  useChosenPublisher,
  useLogOut,
  useMe,
  useMerchants,
  usePublishers,
} from '../session.ts'
import { Failure, Progress } from './notice.tsx'

export function Frame() {
  const me = useMe()
  const isOut = isNotLoggedIn(me.error)
  if (useIsForAnybody()) return <Outlet />
  if (isOut || me.data !== undefined) {
    return (
      <>
        {isOut && <LoginPage isAgain={me.data !== undefined} />}
        {me.data !== undefined && (
          // Preserves the input for the next log-in. Meanwhile the page is hidden and sends no
          // calls.
          <Activity key={me.data.uid} mode={isOut ? 'hidden' : 'visible'}>
            <LoggedIn me={me.data} />
          </Activity>
        )}
      </>
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
  const publishers = usePublishers()
  const merchants = useMerchants()
  const [chosen, choose] = useChosenPublisher(publishers.data ?? [])
  return (
    <>
      <a href="#content" className="skip">
        Skip to the content
      </a>
      <Header me={me} publishers={publishers.data ?? []} chosen={chosen} onChoose={choose} />
      <main id="content" className="mx-auto max-w-6xl px-4 py-6 sm:px-6 sm:py-8">
        <Progress query={publishers.isPending ? publishers : merchants} />
        {publishers.data !== undefined && merchants.data !== undefined && (
          <PublisherContext value={chosen}>
            <Outlet />
          </PublisherContext>
        )}
      </main>
    </>
  )
}

interface HeaderProps {
  readonly me: User
  readonly publishers: readonly Publisher[]
  readonly chosen: Publisher | null
  readonly onChoose: (pubId: number) => void
}

function Header({ me, publishers, chosen, onChoose }: HeaderProps) {
  const logOut = useLogOut()
  return (
    <header className="border-b border-line bg-panel">
      <div className="mx-auto flex max-w-6xl flex-wrap items-center gap-x-6 px-4 sm:px-6">
        <Link to={PATHS.overview} className="py-4 font-semibold tracking-tight text-accent">
          Souk
        </Link>
        <Menu />
        {/* The maximum width of a name before the menu would wrap. */}
        <div className="flex min-w-0 flex-[1_1_11rem] items-center justify-end gap-3 py-2 text-sm">
          <WhoseChoice publishers={publishers} chosen={chosen} onChoose={onChoose} />
          <span title={me.email} className="hidden truncate text-soft xl:inline">
            {me.email}
          </span>
          <button
            type="button"
            className="button button-small print:hidden"
            disabled={logOut.isPending}
            onClick={() => logOut.mutate()}
          >
            Log out
          </button>
        </div>
      </div>
      {logOut.error !== null && <Failure error={logOut.error} />}
    </header>
  )
}

type ChoiceProps = Pick<HeaderProps, 'publishers' | 'chosen' | 'onChoose'>

/** Whether the page is about a merchant. */
function useIsAtMerchant(): boolean {
  const isOverview = useMatch({ from: PATHS.merchant, shouldThrow: false }) !== undefined
  const isCampaigns = useMatch({ from: PATHS.campaigns, shouldThrow: false }) !== undefined
  return isOverview || isCampaigns
}

/** Chooses one of the publishers, or on the merchant's page one of the merchants. */
function WhoseChoice({ publishers, chosen, onChoose }: ChoiceProps) {
  const { data: merchants = [] } = useMerchants()
  const [merchant, chooseMerchant] = useChosenMerchant()
  const isMerchants = useIsAtMerchant()
  const [label, options, value, choose] = isMerchants
    ? (['Merchant', merchants.map(optionOf), merchant?.merch_id, chooseMerchant] as const)
    : (['Publisher', publishers.map(optionOf), chosen?.pub_id, onChoose] as const)
  if (options.length < 2) return null
  return (
    <select
      aria-label={label}
      className="h-9 max-w-72 min-w-0 rounded-lg border border-edge bg-panel px-2 text-ellipsis"
      value={value}
      onChange={({ target }) => choose(Number(target.value))}
    >
      {options.map(({ id, name }) => (
        // Browsers show the selected option in its own direction.
        <option key={id} value={id} dir="auto">
          {name}
        </option>
      ))}
    </select>
  )
}

const optionOf = (one: Publisher | Merchant) => ({
  id: 'pub_id' in one ? one.pub_id : one.merch_id,
  name: one.name,
})

const OF_PUBLISHERS = [
  { to: PATHS.overview, label: 'Overview' },
  { to: PATHS.links, label: 'Links' },
  { to: PATHS.clicks, label: 'Clicks' },
  { to: PATHS.orders, label: 'Orders' },
  { to: PATHS.unfilled, label: 'Unfilled' },
  { to: PATHS.payments, label: 'Payments' },
  { to: PATHS.settings, label: 'Settings' },
] as const
const OF_MERCHANTS = [
  { to: PATHS.merchant, label: 'Merchant' },
  { to: PATHS.campaigns, label: 'Campaigns' },
] as const
const OF_OPERATORS = [{ to: PATHS.network, label: 'Network' }] as const
const OF_OWNERS = [{ to: PATHS.members, label: 'Members' }] as const
const OF_ALL = [
  { to: PATHS.developer, label: 'Developer' },
  { to: PATHS.account, label: 'Account' },
] as const
/** Leads to the pages of a publisher from those of another role. */
const TO_PUBLISHERS = [{ to: PATHS.overview, label: 'Publisher' }] as const

/**
 * The menu of pages for the account's roles: all pages of the present role, and one that leads to
 * each of the others. An account without any role sees pages that say how to get one.
 */
function Menu() {
  const hasPublishers = usePublishers().data?.length !== 0
  const hasMerchants = (useMerchants().data?.length ?? 0) > 0
  const isOperator = useMe().data?.memberships.some(
    ({ organization }) => organization.kind === 'network',
  )
  const isOwner = useOrganizations('members.write').all.length > 0
  const isAtMerchant = useIsAtMerchant()
  const isAtNetwork = useMatch({ from: PATHS.network, shouldThrow: false }) !== undefined
  const isElsewhere = isAtMerchant || isAtNetwork
  const items = [
    ...(hasPublishers || !hasMerchants ? (isElsewhere ? TO_PUBLISHERS : OF_PUBLISHERS) : []),
    ...(hasMerchants ? (isAtMerchant || !hasPublishers ? OF_MERCHANTS : [OF_MERCHANTS[0]]) : []),
    ...(isOperator === true ? OF_OPERATORS : []),
    ...(isOwner ? OF_OWNERS : []),
    ...OF_ALL,
  ]
  return (
    // Four per row on a phone, aligned in columns.
    <nav
      aria-label="Pages"
      className="order-last flex w-full flex-wrap gap-x-1 print:hidden min-[30rem]:justify-between lg:order-none lg:w-auto"
    >
      {items.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === PATHS.overview, includeSearch: false }}
          className="basis-[23%] border-b-2 border-transparent py-2.5 text-[0.8125rem] font-medium min-[30rem]:basis-auto min-[30rem]:py-3 min-[30rem]:text-sm text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink lg:px-2 lg:py-4"
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
