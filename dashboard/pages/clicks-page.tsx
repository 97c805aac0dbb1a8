/** Lists the clicks of a range, valid and invalid, with earnings or the reason for none. */
import { type InfiniteData, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useAddress } from '../address.ts'
import { api, type ClickPage } from '../api.ts'
import { usePublisher } from '../organization.ts'
import { useRange } from '../range.ts'
import { Choice } from '../ui/choice.tsx'
import { ClickList } from '../ui/click-list.tsx'
import { ClickReasons } from '../ui/click-reasons.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { RangeTitle } from '../ui/range-title.tsx'

const OUTCOMES = [
  { value: 'all', label: 'All' },
  { value: 'counted', label: 'Valid' },
  { value: 'unpaid', label: 'Unpaid' },
] as const

export function ClicksPage() {
  const { pub_id: pubId } = usePublisher()
  const [range] = useRange()
  const [{ outcome = 'all' }, change] = useAddress()
  const ofRange = ['clicks', pubId, range]
  const pages = usePages([...ofRange, outcome], (cursor) =>
    api.clicks(pubId, range, { outcome: outcome === 'all' ? null : outcome, cursor }),
  )
  const clicks = pages.data?.pages.flatMap((page) => page.clicks) ?? []
  const reasons = useReasons(ofRange, pages.data)
  return (
    <div className="space-y-5">
      <RangeTitle>Clicks</RangeTitle>
      {reasons.length > 0 && <ClickReasons reasons={reasons} />}
      <Choice
        label="Which clicks"
        options={OUTCOMES}
        value={outcome}
        onChange={(next) => change({ outcome: next === 'all' ? undefined : next })}
      />
      {pages.isSuccess && clicks.length === 0 && <NoClicks isAnyThere={reasons.length > 0} />}
      {clicks.length > 0 && <ClickList clicks={clicks} hasReceiptLinks />}
      <Progress query={pages} />
      <NextPage pages={pages} label="Earlier clicks" />
    </div>
  )
}

type Pages = InfiniteData<ClickPage>

/** Reasons depend on the range only, so they stay while other clicks of it load. */
function useReasons(ofRange: QueryKey, pages: Pages | undefined): ClickPage['reasons'] {
  const cached = useQueryClient().getQueriesData<Pages>({ queryKey: ofRange })
  const all = [pages, ...cached.map(([, data]) => data)]
  return all.find((one) => one !== undefined)?.pages[0]?.reasons ?? []
}

function NoClicks({ isAnyThere }: { isAnyThere: boolean }) {
  return isAnyThere ? (
    <EmptyState title="No clicks of this kind">
      Choose “All” to see the other clicks of this period.
    </EmptyState>
  ) : (
    <EmptyState title="No clicks in this period">
      This list also shows unpaid clicks, such as bots and repeated clicks, each with its reason.
      Choose more days, or open one of your articles and click a link.
    </EmptyState>
  )
}
