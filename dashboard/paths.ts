/** The paths of the dashboard's pages, below /dashboard. */
export const PATHS = {
  overview: '/',
  performance: '/performance',
  links: '/links',
  link: '/links/$id',
  article: '/article',
  products: '/products',
  tag: '/tag',
  alerts: '/alerts',
  scheduledReports: '/scheduled-reports',
  whatIf: '/what-if',
  clicks: '/clicks',
  orders: '/orders',
  order: '/orders/$id',
  unfilled: '/unfilled',
  payments: '/payments',
  receipt: '/receipts/$result',
  settings: '/settings',
  merchant: '/merchant',
  merchantSetup: '/merchant/setup',
  merchantPerformance: '/merchant/performance',
  merchantFeed: '/merchant/feed',
  merchantProducts: '/merchant/products',
  campaigns: '/campaigns',
  merchantTag: '/merchant/tag',
  merchantOrders: '/merchant/orders',
  merchantOrder: '/merchant/orders/$order',
  invoices: '/merchant/invoices',
  invoice: '/merchant/invoices/$month',
  merchantAccount: '/merchant/account',
  merchantSettings: '/merchant/settings',
  network: '/network',
  networkApprovals: '/network/approvals',
  networkOrganizations: '/network/organizations',
  networkPeople: '/network/people',
  networkPayments: '/network/payments',
  networkRates: '/network/rates',
  networkReversals: '/network/reversals',
  networkHealth: '/network/health',
  networkJobs: '/network/jobs',
  networkReconciliation: '/network/reconciliation',
  networkFeeds: '/network/feeds',
  networkSettings: '/network/settings',
  developer: '/developer',
  members: '/members',
  audit: '/audit',
  webhooks: '/webhooks',
  invitation: '/invitations/$token',
  forgotPassword: '/forgot-password',
  newPassword: '/new-password',
  account: '/account',
} as const

/** The page's state in the URL: organization, range of UTC days, and page options. */
export interface Search {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly compare?: (typeof COMPARISONS)[number] | undefined // absent: the previous period
  readonly zone?: 'utc' | undefined // absent: the organization's own
  readonly day?: string | undefined // of a page about one day
  readonly outcome?: (typeof OUTCOMES)[number] | undefined
  readonly figure?: (typeof DRAWN)[number] | undefined
  readonly by?: Group | undefined // the tab of the page Performance
  /** Only figures of this value: `article` is an ID, `country` a code. */
  readonly only?: Readonly<Partial<Record<FilterName, string>>> | undefined
  readonly org?: string | undefined // an organization, such as publisher-7
  readonly find?: string | undefined // the search text of a list
  readonly view?: string | undefined // the chosen tab of a page
  readonly state?: string | undefined // the state that a list is limited to
  readonly campaign?: number | undefined // the campaign that a page is limited to
  readonly health?: (typeof HEALTHS)[number] | undefined // links in one state
}

/** Valid clicks, or unpaid ones. */
const OUTCOMES = ['counted', 'unpaid'] as const

/** The days that a page compares with. */
const COMPARISONS = ['none', 'previous', 'year'] as const

/** The properties by which Performance breaks figures down. */
export const FILTERS = ['article', 'link', 'merchant', 'product', 'device', 'country'] as const
export type FilterName = (typeof FILTERS)[number]
const GROUPS = [...FILTERS, 'time'] as const
export type Group = (typeof GROUPS)[number]

/** The states of a link, as the API names them. */
export const HEALTHS = ['earning', 'no_bid', 'out_of_stock', 'dead', 'disabled', 'new'] as const

/** The figures that the overview can draw. */
export const FIGURES = ['earnings', 'clicks', 'impressions', 'sales'] as const
/** Performance draws these too. */
const DRAWN = [...FIGURES, 'epc', 'revenue'] as const
export type Figure = (typeof FIGURES)[number]

const ORGANIZATION = /^(network|(publisher|merchant)-\d{1,10})$/
const WORD = /^\w{1,20}$/
const CAMPAIGN_MAX = 2 ** 31
const DAY = /^\d{4}-\d{2}-\d{2}$/

/**
 * Reads the query of the URL and ignores invalid parameters. Every parameter must be listed,
 * because the router passes unlisted ones through.
 */
export function readSearch(search: Record<string, unknown>): Search {
  const { by, only, compare, zone, org, from, to, day, outcome, figure } = search
  const { find, view, state, campaign, health } = search
  const isRange = isDay(from) && isDay(to) && from <= to
  return {
    org: typeof org === 'string' && ORGANIZATION.test(org) ? org : undefined,
    from: isRange ? from : undefined,
    to: isRange ? to : undefined,
    compare: COMPARISONS.find((one) => one === compare),
    zone: zone === 'utc' ? 'utc' : undefined,
    by: GROUPS.find((one) => one === by),
    only: readFilters(only),
    day: isDay(day) ? day : undefined,
    outcome: OUTCOMES.find((one) => one === outcome),
    figure: DRAWN.find((one) => one === figure),
    health: HEALTHS.find((one) => one === health),
    find: typeof find === 'string' ? find : undefined,
    view: typeof view === 'string' ? view : undefined,
    state: typeof state === 'string' && WORD.test(state) ? state : undefined,
    campaign: isCampaign(campaign) ? campaign : undefined,
  }
}

function readFilters(value: unknown): Search['only'] {
  if (typeof value !== 'object' || value === null) return undefined
  const given = value as Readonly<Record<string, unknown>>
  const pairs = FILTERS.flatMap((name) =>
    typeof given[name] === 'string' && given[name] !== '' ? [[name, given[name]] as const] : [],
  )
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

const isCampaign = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < CAMPAIGN_MAX

/** Whether a text is a real calendar day. 30 February is not. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value)) return false
  const ms = Date.parse(value)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value)
}
