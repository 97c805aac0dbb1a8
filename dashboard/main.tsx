/** Starts the dashboard: the query client that its pages share, and the router. */
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isRefusal } from './api.ts'
import { router } from './routes.tsx'
import { applyScheme } from './scheme.ts'
import { noticeEnd, watchOtherTabs } from './session.ts'

applyScheme()

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
