/**
 * The table of pages: menu, command palette and route guard read it.
 *
 * To add a page: one path in paths.ts, one line here, one route in routes.tsx.
 */
import type { Organization, Permission } from '../src/accounts/permission.ts'
import { PATHS } from './paths.ts'

/** Of every organization, or of the signed-in person alone. */
export type PageKind = Organization['kind'] | 'any' | 'person'

export interface PageEntry {
  readonly path: (typeof PATHS)[keyof typeof PATHS]
  readonly label: string
  /** The heading above it in the menu. */
  readonly group: string
  /** The kinds of organizations that have this page. */
  readonly kind: PageKind
  /** Needed to open it; without one, everybody in the organization may. */
  readonly permission?: Permission
  /** The only kind without a page that is of any other organization. */
  readonly except?: Organization['kind']
  /** Reached from another page only, such as a receipt. */
  readonly isDetail?: boolean
}

export const PAGES: readonly PageEntry[] = [
  { path: PATHS.overview, label: 'Overview', group: 'Earnings', kind: 'publisher' },
  { path: PATHS.performance, label: 'Performance', group: 'Earnings', kind: 'publisher' },
  { path: PATHS.clicks, label: 'Clicks', group: 'Earnings', kind: 'publisher' },
  { path: PATHS.orders, label: 'Orders', group: 'Earnings', kind: 'publisher' },
  { path: PATHS.unfilled, label: 'Unfilled', group: 'Earnings', kind: 'publisher' },
  { path: PATHS.whatIf, label: 'What if', group: 'Earnings', kind: 'publisher' },
  {
    ...{ path: PATHS.payments, label: 'Payments', group: 'Earnings', kind: 'publisher' },
    permission: 'payments.read',
  },
  { path: PATHS.links, label: 'Links', group: 'Links', kind: 'publisher' },
  { path: PATHS.tag, label: 'Page tag', group: 'Links', kind: 'publisher' },
  { path: PATHS.products, label: 'Products', group: 'Links', kind: 'publisher' },
  {
    ...{ path: PATHS.article, label: 'Paste an article', group: 'Links', kind: 'publisher' },
    permission: 'links.write',
  },
  {
    ...{ path: PATHS.link, label: 'Link', group: 'Links', kind: 'publisher' },
    isDetail: true,
  },
  {
    ...{ path: PATHS.order, label: 'Order', group: 'Earnings', kind: 'publisher' },
    isDetail: true,
  },
  {
    ...{ path: PATHS.receipt, label: 'Receipt', group: 'Links', kind: 'publisher' },
    isDetail: true,
  },
  { path: PATHS.settings, label: 'Settings', group: 'Publisher', kind: 'publisher' },
  {
    ...{ path: PATHS.alerts, label: 'Alerts', group: 'Publisher', kind: 'publisher' },
    permission: 'alerts.write',
  },
  {
    ...{ path: PATHS.scheduledReports, label: 'Scheduled reports', kind: 'publisher' },
    ...{ group: 'Publisher', permission: 'deliveries.write' },
  },

  { path: PATHS.merchant, label: 'Overview', group: 'Results', kind: 'merchant' },
  { path: PATHS.merchantPerformance, label: 'Performance', group: 'Results', kind: 'merchant' },
  { path: PATHS.merchantOrders, label: 'Orders', group: 'Results', kind: 'merchant' },
  {
    ...{ path: PATHS.merchantOrder, label: 'Order', group: 'Results', kind: 'merchant' },
    isDetail: true,
  },
  { path: PATHS.merchantSetup, label: 'Set-up', group: 'Shop', kind: 'merchant' },
  { path: PATHS.merchantFeed, label: 'Feed', group: 'Shop', kind: 'merchant' },
  { path: PATHS.merchantProducts, label: 'Products', group: 'Shop', kind: 'merchant' },
  { path: PATHS.campaigns, label: 'Campaigns', group: 'Shop', kind: 'merchant' },
  { path: PATHS.merchantTag, label: 'Tag', group: 'Shop', kind: 'merchant' },
  {
    ...{ path: PATHS.invoices, label: 'Invoices', group: 'Money', kind: 'merchant' },
    permission: 'payments.read',
  },
  {
    ...{ path: PATHS.invoice, label: 'Invoice', group: 'Money', kind: 'merchant' },
    permission: 'payments.read',
    isDetail: true,
  },
  { path: PATHS.merchantAccount, label: 'Account', group: 'Money', kind: 'merchant' },
  { path: PATHS.merchantSettings, label: 'Settings', group: 'Shop', kind: 'merchant' },

  { path: PATHS.network, label: 'Overview', group: 'Network', kind: 'network' },
  {
    ...{ path: PATHS.networkApprovals, label: 'Approvals', group: 'Network', kind: 'network' },
    permission: 'orders.review',
  },
  {
    ...{ path: PATHS.networkOrganizations, label: 'Organizations', kind: 'network' },
    ...{ group: 'Network', permission: 'network.read' },
  },
  {
    ...{ path: PATHS.networkPeople, label: 'People', group: 'Network', kind: 'network' },
    permission: 'network.read',
  },
  {
    ...{ path: PATHS.networkPayments, label: 'Payments', group: 'Money', kind: 'network' },
    permission: 'payments.read',
  },
  {
    ...{ path: PATHS.networkRates, label: 'Exchange rates', group: 'Money', kind: 'network' },
    permission: 'network.read',
  },
  {
    ...{ path: PATHS.networkReversals, label: 'Reversals', group: 'Money', kind: 'network' },
    permission: 'network.read',
  },
  {
    ...{ path: PATHS.networkHealth, label: 'Health', kind: 'network' },
    ...{ group: 'Operation', permission: 'network.read' },
  },
  {
    ...{ path: PATHS.networkJobs, label: 'Jobs', kind: 'network' },
    ...{ group: 'Operation', permission: 'network.read' },
  },
  {
    ...{ path: PATHS.networkReconciliation, label: 'Reconciliation', kind: 'network' },
    ...{ group: 'Operation', permission: 'network.read' },
  },
  {
    ...{ path: PATHS.networkFeeds, label: 'Feeds', kind: 'network' },
    ...{ group: 'Operation', permission: 'network.read' },
  },
  {
    ...{ path: PATHS.networkSettings, label: 'Configuration', kind: 'network' },
    ...{ group: 'Operation', permission: 'network.read' },
  },

  {
    ...{ path: PATHS.members, label: 'Members', group: 'Organization', kind: 'any' },
    permission: 'members.write',
  },
  {
    ...{ path: PATHS.audit, label: 'Changes', group: 'Organization', kind: 'any' },
    permission: 'audit.read',
  },
  {
    ...{ path: PATHS.webhooks, label: 'Webhooks', group: 'Organization', kind: 'any' },
    ...{ permission: 'webhooks.write', except: 'network' },
  },
  { path: PATHS.developer, label: 'Developer', group: 'Organization', kind: 'any' },
  { path: PATHS.account, label: 'Your account', group: 'You', kind: 'person' },
]

/** The first page of an organization. */
export const START = {
  publisher: PATHS.overview,
  merchant: PATHS.merchant,
  network: PATHS.network,
} as const satisfies Record<Organization['kind'], string>

/** The page of a route's path; undefined for pages that need no session. */
export const pageAt = (path: string): PageEntry | undefined =>
  PAGES.find((page) => page.path === path)

/** Whether an organization of this kind has a page, for somebody with these permissions. */
export function isAllowed(
  { kind: wanted, permission, except }: PageEntry,
  kind: Organization['kind'] | null,
  permissions: readonly Permission[],
): boolean {
  const isOfKind =
    wanted === kind || (wanted === 'any' && (except === undefined || except !== kind))
  return isOfKind && (permission === undefined || permissions.includes(permission))
}

/** The pages in the menu of an organization. */
export const listPages = (
  kind: Organization['kind'] | null,
  permissions: readonly Permission[],
): readonly PageEntry[] =>
  PAGES.filter((page) => page.isDetail !== true && isAllowed(page, kind, permissions))

/** Pages by the heading of their group, in the order of the table. */
export function grouped(pages: readonly PageEntry[]): (readonly [string, readonly PageEntry[]])[] {
  return [...Map.groupBy(pages, ({ group }) => group)]
}
