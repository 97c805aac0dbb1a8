/** The three steps from an empty merchant to a running campaign, each judged by what arrived. */
import { useQuery } from '@tanstack/react-query'
import { api, type Campaign } from './api.ts'
import { rejectedOf } from './feed-import.ts'
import { count, date, time } from './format.ts'
import { type FeedImport, merchantApi, type TagStatus } from './merchant-api.ts'
import { PATHS } from './paths.ts'

export interface SetupStep {
  readonly name: string
  readonly isDone: boolean
  /** The evidence, or what is missing. */
  readonly state: string
  readonly purpose: string
  readonly path: typeof PATHS.merchantFeed | typeof PATHS.merchantTag | typeof PATHS.campaigns
  readonly action: string
}

/** Undefined until all three are known. */
export function useSetup(merchId: number) {
  const imports = useQuery({
    queryKey: ['feed imports', merchId],
    queryFn: () => merchantApi.feedImports(merchId),
  })
  const tag = useQuery({
    queryKey: ['tag status', merchId],
    queryFn: () => merchantApi.tagStatus(merchId),
  })
  const campaigns = useQuery({
    queryKey: ['campaigns', merchId],
    queryFn: () => api.campaigns(merchId),
  })
  const queries = [imports, tag, campaigns] as const
  const isKnown =
    imports.data !== undefined && tag.data !== undefined && campaigns.data !== undefined
  return {
    queries,
    steps: isKnown
      ? [feedStep(imports.data), tagStep(tag.data), campaignStep(campaigns.data)]
      : undefined,
  }
}

function feedStep(imports: readonly FeedImport[]): SetupStep {
  const last = imports.find((one) => one.state === 'done' && !one.dry_run)
  return {
    name: 'Product feed',
    isDone: last !== undefined,
    state:
      last === undefined
        ? 'No feed has been imported yet.'
        : `Last import ${at(last.datetime_ended ?? last.datetime_created)}: ${products(last)}.`,
    purpose: 'The list of your products with prices. Only products in it can compete.',
    path: PATHS.merchantFeed,
    action: last === undefined ? 'Add your feed' : 'Open the feed',
  }
}

function products(run: FeedImport): string {
  const left = rejectedOf(run)
  const good = counted(run.rows - left, 'product')
  return left === 0 ? good : `${good}, ${counted(left, 'row')} rejected`
}

const counted = (of: number, noun: string): string => `${count(of)} ${noun}${of === 1 ? '' : 's'}`

function tagStep({ last_page, last_checkout, last_server_order }: TagStatus): SetupStep {
  const last = [last_server_order, last_checkout, last_page].filter((one) => one !== null)
  const latest = last.toSorted().at(-1)
  return {
    name: 'Tag',
    isDone: latest !== undefined,
    state: latest === undefined ? 'Nothing has reported yet.' : `Last report ${at(latest)}.`,
    purpose: 'A line in your shop’s pages that reports orders, so that we can count your sales.',
    path: PATHS.merchantTag,
    action: latest === undefined ? 'Install the tag' : 'Open the tag',
  }
}

function campaignStep(campaigns: readonly Campaign[]): SetupStep {
  const running = campaigns.filter(({ state }) => state === 'running').length
  return {
    name: 'Campaign',
    isDone: running > 0,
    state:
      running > 0
        ? `${running} ${running === 1 ? 'campaign runs' : 'campaigns run'}.`
        : campaigns.length === 0
          ? 'No campaign has been created yet.'
          : 'No campaign runs at the moment.',
    purpose: 'What a click or an order is worth to you, and how much you spend at most.',
    path: PATHS.campaigns,
    action: campaigns.length === 0 ? 'Create a campaign' : 'Open campaigns',
  }
}

const at = (instant: string): string => `${date(instant)}, ${time(instant).slice(0, 5)} UTC`
