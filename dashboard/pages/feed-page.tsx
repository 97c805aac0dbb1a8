/** A merchant's product feed: where it comes from, its last import, and the rows left out. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ColumnMap, isRunning } from '../feed-import.ts'
import { type FeedImport, type FeedSource, merchantApi } from '../merchant-api.ts'
import { useCan, useMerchant } from '../organization.ts'
import { Choice } from '../ui/choice.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'
import { FeedHistory } from './feed-history.tsx'
import { FeedImportPanel } from './feed-import-panel.tsx'
import { FeedSourceForm } from './feed-source-form.tsx'
import { FeedUpload, NO_FILE } from './feed-upload.tsx'

/** How often a running import is read: fast enough to see it move. */
const RUNNING_MS = 1_000

const WAYS = [
  { value: 'url', label: 'From a URL' },
  { value: 'file', label: 'Upload a file' },
] as const
type Way = (typeof WAYS)[number]['value']

export function FeedPage() {
  const { merch_id: merchId, name } = useMerchant()
  const source = useQuery({
    queryKey: ['feed source', merchId],
    queryFn: () => merchantApi.feedSource(merchId),
    staleTime: Infinity, // A form must not change while somebody types.
  })
  const imports = useQuery({
    queryKey: ['feed imports', merchId],
    queryFn: () => merchantApi.feedImports(merchId),
    refetchInterval: ({ state: { data } }) => (data?.some(isRunning) ? RUNNING_MS : false),
  })
  return (
    <div className="space-y-5">
      <Title name={name}> · Feed</Title>
      <p className="max-w-prose text-soft">
        The list of your products with prices and stock. Products of a feed older than 24 hours do
        not compete.
      </p>
      <Progress query={source} />
      {source.data !== undefined && (
        <Feed key={merchId} merchId={merchId} source={source.data} imports={imports.data ?? []} />
      )}
      {imports.data === undefined ? (
        imports.failureReason === null ? (
          <TableSkeleton rows={4} />
        ) : (
          <Progress query={imports} />
        )
      ) : null}
    </div>
  )
}

interface Given {
  readonly merchId: number
  readonly source: FeedSource | null
  readonly imports: readonly FeedImport[]
}

function Feed({ merchId, source, imports }: Given) {
  const canChange = useCan('feeds.write')
  const client = useQueryClient()
  const renew = () => client.invalidateQueries({ queryKey: ['feed imports', merchId] })
  const [way, setWay] = useState<Way>(
    source === null && imports[0]?.source === 'upload' ? 'file' : 'url',
  )
  const [map, setMap] = useState<ColumnMap>(source?.map ?? {})
  const [chosen, choose] = useState(NO_FILE)
  const [openId, setOpenId] = useState<string | null>(null)
  const open = imports.find(({ import_id }) => import_id === openId) ?? imports[0]
  const onImportStarted = async ({ import_id }: FeedImport) => {
    await renew()
    setOpenId(import_id)
  }
  return (
    <>
      {canChange ? (
        <section aria-label="Source" className="panel space-y-4 p-4">
          <Choice label="How we get your feed" options={WAYS} value={way} onChange={setWay} />
          {way === 'url' ? (
            <FeedSourceForm
              merchId={merchId}
              source={source}
              map={map}
              onStarted={onImportStarted}
            />
          ) : (
            <FeedUpload {...{ merchId, chosen, choose, map }} onStarted={onImportStarted} />
          )}
        </section>
      ) : (
        <p className="text-sm text-soft">
          You can read the feed’s state. A manager or owner can change where it comes from.
        </p>
      )}
      {open === undefined ? (
        <EmptyState title="No import yet">
          {canChange
            ? 'Name your feed’s URL or choose a file above, and try it. A trial changes nothing.'
            : 'Ask a manager or owner of this merchant to add the feed.'}
        </EmptyState>
      ) : (
        <FeedImportPanel
          key={open.import_id}
          merchId={merchId}
          run={open}
          map={map}
          setMap={setMap}
          canChange={canChange}
          again={way === 'url' ? { source } : { chosen }}
          onStarted={onImportStarted}
        />
      )}
      {imports.length > 0 && (
        <FeedHistory imports={imports} openId={open?.import_id ?? null} onOpen={setOpenId} />
      )}
    </>
  )
}
