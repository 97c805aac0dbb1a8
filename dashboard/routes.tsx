/** The routes of the dashboard. Each page is its own chunk, loaded when somebody opens it. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  retainSearchParams,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { upgradeAddress } from './old-address.ts'
import { PATHS, readSearch } from './paths.ts'
import { Frame } from './ui/frame.tsx'
import { lazyPage } from './ui/lazy-page.tsx'
import { BrokenPage, NothingHere } from './ui/notice.tsx'

// Before the router reads the URL.
const present = upgradeAddress(location.href)
if (present !== location.href) history.replaceState(history.state, '', present)

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NothingHere,
  validateSearch: readSearch,
  search: { middlewares: [retainSearchParams(['org', 'from', 'to', 'compare', 'zone'])] },
})

type Load<N extends string> = () => Promise<Record<N, ComponentType>>

/** A page, and the module that exports it under `name`. */
function page<P extends string, N extends string>(path: P, load: Load<N>, name: N) {
  return createRoute({ getParentRoute: () => root, path, component: lazyPage(load, name) })
}

const routeTree = root.addChildren([
  page(PATHS.overview, () => import('./pages/overview-page.tsx'), 'OverviewPage'),
  page(PATHS.performance, () => import('./pages/performance-page.tsx'), 'PerformancePage'),
  page(PATHS.links, () => import('./pages/links-page.tsx'), 'LinksPage'),
  page(PATHS.link, () => import('./pages/link-page.tsx'), 'LinkPage'),
  page(PATHS.article, () => import('./pages/article-page.tsx'), 'ArticlePage'),
  page(PATHS.products, () => import('./pages/products-page.tsx'), 'ProductsPage'),
  page(PATHS.whatIf, () => import('./pages/what-if-page.tsx'), 'WhatIfPage'),
  page(PATHS.order, () => import('./pages/order-page.tsx'), 'OrderPage'),
  page(PATHS.tag, () => import('./pages/tag-page.tsx'), 'TagPage'),
  page(
    PATHS.scheduledReports,
    () => import('./pages/scheduled-reports-page.tsx'),
    'ScheduledReportsPage',
  ),
  page(PATHS.alerts, () => import('./pages/alerts-page.tsx'), 'AlertsPage'),
  page(PATHS.clicks, () => import('./pages/clicks-page.tsx'), 'ClicksPage'),
  page(PATHS.orders, () => import('./pages/orders-page.tsx'), 'OrdersPage'),
  page(PATHS.unfilled, () => import('./pages/unfilled-page.tsx'), 'UnfilledPage'),
  page(PATHS.payments, () => import('./pages/payments-page.tsx'), 'PaymentsPage'),
  page(PATHS.receipt, () => import('./pages/receipt-page.tsx'), 'ReceiptPage'),
  page(PATHS.settings, () => import('./pages/settings-page.tsx'), 'SettingsPage'),
  page(PATHS.merchant, () => import('./pages/merchant-page.tsx'), 'MerchantPage'),
  page(PATHS.merchantSetup, () => import('./pages/merchant-setup-page.tsx'), 'MerchantSetupPage'),
  page(
    PATHS.merchantPerformance,
    () => import('./pages/merchant-performance-page.tsx'),
    'MerchantPerformancePage',
  ),
  page(PATHS.merchantFeed, () => import('./pages/feed-page.tsx'), 'FeedPage'),
  page(
    PATHS.merchantProducts,
    () => import('./pages/merchant-products-page.tsx'),
    'MerchantProductsPage',
  ),
  page(PATHS.merchantTag, () => import('./pages/merchant-tag-page.tsx'), 'MerchantTagPage'),
  page(
    PATHS.merchantOrders,
    () => import('./pages/merchant-orders-page.tsx'),
    'MerchantOrdersPage',
  ),
  page(PATHS.merchantOrder, () => import('./pages/merchant-order-page.tsx'), 'MerchantOrderPage'),
  page(PATHS.invoices, () => import('./pages/invoices-page.tsx'), 'InvoicesPage'),
  page(PATHS.invoice, () => import('./pages/invoice-page.tsx'), 'InvoicePage'),
  page(
    PATHS.merchantAccount,
    () => import('./pages/merchant-account-page.tsx'),
    'MerchantAccountPage',
  ),
  page(
    PATHS.merchantSettings,
    () => import('./pages/merchant-settings-page.tsx'),
    'MerchantSettingsPage',
  ),
  page(PATHS.campaigns, () => import('./pages/campaigns-page.tsx'), 'CampaignsPage'),
  page(PATHS.network, () => import('./pages/network-page.tsx'), 'NetworkPage'),
  page(PATHS.networkApprovals, () => import('./pages/network-approvals.tsx'), 'ApprovalsPage'),
  page(
    PATHS.networkOrganizations,
    () => import('./pages/network-organizations.tsx'),
    'OrganizationsPage',
  ),
  page(PATHS.networkPeople, () => import('./pages/network-people.tsx'), 'PeoplePage'),
  page(PATHS.networkPayments, () => import('./pages/network-payments.tsx'), 'NetworkPaymentsPage'),
  page(PATHS.networkRates, () => import('./pages/network-rates.tsx'), 'RatesPage'),
  page(PATHS.networkReversals, () => import('./pages/network-reversals.tsx'), 'ReversalsPage'),
  page(PATHS.networkHealth, () => import('./pages/network-health.tsx'), 'HealthPage'),
  page(PATHS.networkJobs, () => import('./pages/network-jobs.tsx'), 'JobsPage'),
  page(
    PATHS.networkReconciliation,
    () => import('./pages/network-reconciliation.tsx'),
    'ReconciliationPage',
  ),
  page(PATHS.networkFeeds, () => import('./pages/network-feeds.tsx'), 'FeedsPage'),
  page(PATHS.networkSettings, () => import('./pages/network-settings.tsx'), 'NetworkSettingsPage'),
  page(PATHS.developer, () => import('./pages/developer-page.tsx'), 'DeveloperPage'),
  page(PATHS.members, () => import('./pages/members-page.tsx'), 'MembersPage'),
  page(PATHS.audit, () => import('./pages/audit-page.tsx'), 'AuditPage'),
  page(PATHS.webhooks, () => import('./pages/webhooks-page.tsx'), 'WebhooksPage'),
  page(PATHS.invitation, () => import('./pages/invitation-page.tsx'), 'InvitationPage'),
  page(
    PATHS.forgotPassword,
    () => import('./pages/forgot-password-page.tsx'),
    'ForgotPasswordPage',
  ),
  page(PATHS.newPassword, () => import('./pages/new-password-page.tsx'), 'NewPasswordPage'),
  page(PATHS.account, () => import('./pages/account-page.tsx'), 'AccountPage'),
])

export const router = createRouter({
  routeTree,
  basepath: '/dashboard',
  scrollRestoration: true,
  defaultPreload: 'intent', // Loads a page's chunk when the pointer or the focus reaches its link.
  defaultErrorComponent: BrokenPage,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
