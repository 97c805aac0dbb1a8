/** The routes of the dashboard, and the query client that its pages share. */
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
  retainSearchParams,
} from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isRefusal } from './api.ts'
import { AccountPage } from './pages/account-page.tsx'
import { AuditPage } from './pages/audit-page.tsx'
import { CampaignsPage } from './pages/campaigns-page.tsx'
import { ClicksPage } from './pages/clicks-page.tsx'
import { DeveloperPage } from './pages/developer-page.tsx'
import { ForgotPasswordPage } from './pages/forgot-password-page.tsx'
import { InvitationPage } from './pages/invitation-page.tsx'
import { LinksPage } from './pages/links-page.tsx'
import { MembersPage } from './pages/members-page.tsx'
import { MerchantPage } from './pages/merchant-page.tsx'
import { NetworkPage } from './pages/network-page.tsx'
import { NewPasswordPage } from './pages/new-password-page.tsx'
import { OrdersPage } from './pages/orders-page.tsx'
import { OverviewPage } from './pages/overview-page.tsx'
import { PaymentsPage } from './pages/payments-page.tsx'
import { ReceiptPage } from './pages/receipt-page.tsx'
import { SettingsPage } from './pages/settings-page.tsx'
import { UnfilledPage } from './pages/unfilled-page.tsx'
import { PATHS, readSearch } from './paths.ts'
import { noticeEnd, watchOtherTabs } from './session.ts'
import { Frame } from './ui/frame.tsx'
import { BrokenPage, NothingHere } from './ui/notice.tsx'
import { OfPublisher } from './ui/of-publisher.tsx'

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NothingHere,
  validateSearch: readSearch,
  search: { middlewares: [retainSearchParams(['pub', 'merch', 'org', 'from', 'to'])] },
})
const page = <P extends string>(path: P, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component })
const pageOfPublisher = <P extends string>(path: P, Page: () => React.ReactNode) =>
  page(path, () => (
    <OfPublisher>
      <Page />
    </OfPublisher>
  ))

const routeTree = root.addChildren([
  pageOfPublisher(PATHS.overview, OverviewPage),
  pageOfPublisher(PATHS.links, LinksPage),
  pageOfPublisher(PATHS.clicks, ClicksPage),
  pageOfPublisher(PATHS.orders, OrdersPage),
  pageOfPublisher(PATHS.unfilled, UnfilledPage),
  pageOfPublisher(PATHS.payments, PaymentsPage),
  pageOfPublisher(PATHS.receipt, ReceiptPage),
  pageOfPublisher(PATHS.settings, SettingsPage),
  page(PATHS.merchant, MerchantPage),
  page(PATHS.campaigns, CampaignsPage),
  page(PATHS.network, NetworkPage),
  page(PATHS.developer, DeveloperPage),
  page(PATHS.members, MembersPage),
  page(PATHS.audit, AuditPage),
  page(PATHS.invitation, InvitationPage),
  page(PATHS.forgotPassword, ForgotPasswordPage),
  page(PATHS.newPassword, NewPasswordPage),
  page(PATHS.account, AccountPage),
])
const router = createRouter({
  routeTree,
  basepath: '/dashboard',
  scrollRestoration: true,
  defaultErrorComponent: BrokenPage,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const RETRY_MS_MAX = 5_000

const onError = (error: unknown) => noticeEnd(client, error)
const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 2_000, // The server's figures are at most 5 s old.
      // Retries an unreachable service, but not a refused call.
      retry: (_failures, error) => !isRefusal(error),
      retryDelay: (failures) => Math.min(1_000 * 2 ** failures, RETRY_MS_MAX),
      networkMode: 'always',
    },
    // Sent even when the browser reports no network: the failure is shown, and a local service
    // needs no network.
    mutations: { networkMode: 'always' },
  },
})
watchOtherTabs(client)

const element = document.getElementById('app')
if (element === null) throw new Error('the page lacks #app')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
