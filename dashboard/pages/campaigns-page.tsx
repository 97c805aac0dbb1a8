/** A merchant's campaigns: create, change, pause and resume them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Campaign, type CampaignBody, type NewCampaign } from '../api.ts'
import { cents, date, dollars, percent } from '../format.ts'
import { useCan, useMerchant } from '../organization.ts'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { CampaignForm } from './campaign-form.tsx'

/** The campaign in the form, as it was when the form opened; `new` for one to create. */
type Open = Campaign | 'new' | null

/** Which campaign is being edited, and what saving it does. */
function useEditing(merchId: number, renew: () => Promise<unknown>) {
  const [open, setOpen] = useState<Open>(null)
  const [created, setCreated] = useState<NewCampaign | null>(null)
  const save = useMutation({
    mutationFn: async ({ body, of }: { body: CampaignBody; of: Campaign | null }) => {
      if (of === null) setCreated(await api.createCampaign(merchId, body))
      else await api.updateCampaign(of, body)
    },
    onSuccess: () => setOpen(null),
    onSettled: renew,
  })
  const show = (next: Open) => {
    save.reset()
    setCreated(null)
    setOpen(next)
  }
  // With its etag: a person who saves after another change gets a message.
  const begin = useMutation({
    mutationFn: (id: number) => api.campaign(merchId, id),
    onSuccess: (campaign) => show(campaign),
  })
  return { open, show, save, begin, created }
}

export function CampaignsPage() {
  const { merch_id: merchId, name } = useMerchant()
  const canChange = useCan('campaigns.write')
  const client = useQueryClient()
  const queryKey = ['campaigns', merchId]
  const renew = () => client.invalidateQueries({ queryKey })
  const campaigns = useQuery({ queryKey, queryFn: () => api.campaigns(merchId) })
  const { open, show, save, begin, created } = useEditing(merchId, renew)
  const form = (of: Campaign | null) => (
    <CampaignForm
      key={of?.etag ?? of?.campaign_id}
      merchId={merchId}
      campaign={of}
      error={save.error}
      isPending={save.isPending}
      onSave={(body) => save.mutateAsync({ body, of })}
      onReload={() => of !== null && begin.mutate(of.campaign_id)}
      onClose={() => show(null)}
    />
  )
  return (
    <div className="space-y-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Title name={name}> · Campaigns</Title>
        {canChange && open !== 'new' && (
          <button type="button" className="button button-main" onClick={() => show('new')}>
            New campaign
          </button>
        )}
      </div>
      {open === 'new' && form(null)}
      {created !== null && <Created campaign={created} />}
      <Progress query={campaigns} />
      {begin.error !== null && <Failure error={begin.error} />}
      {campaigns.data?.length === 0 && open !== 'new' && <NoCampaign />}
      {campaigns.data?.map((campaign) =>
        isOpen(open, campaign) ? (
          form(open)
        ) : (
          <CampaignCard
            key={campaign.campaign_id}
            campaign={campaign}
            canChange={canChange}
            onEdit={() => begin.mutate(campaign.campaign_id)}
            onChanged={renew}
          />
        ),
      )}
    </div>
  )
}

/** Warnings of the service about the lists and floors of publishers stay with the campaign. */
function Created({ campaign }: { campaign: NewCampaign }) {
  return (
    <div role="status" className="panel border-accent bg-tint px-4 py-3">
      <p className="font-medium">
        Campaign {campaign.campaign_id} is created. {STATES[campaign.state]}.
      </p>
      <p className="mt-1 text-sm">{campaign.price_note}</p>
    </div>
  )
}

const isOpen = (open: Open, { campaign_id }: Campaign): open is Campaign =>
  open !== null && open !== 'new' && open.campaign_id === campaign_id

function NoCampaign() {
  return (
    <EmptyState title="No campaign yet">
      A campaign says what a click or an order is worth to you, and how much you spend at most. Your
      products compete as soon as one runs.
    </EmptyState>
  )
}

function CampaignCard(props: {
  readonly campaign: Campaign
  readonly canChange: boolean
  readonly onEdit: () => void
  readonly onChanged: () => Promise<unknown>
}) {
  const { campaign, canChange, onEdit, onChanged } = props
  const { campaign_id: id, merch_id: merchId, state, paused_by: pausedBy } = campaign
  const isPaused = state === 'paused'
  const isOperator = useCan('network.write')
  const turn = useMutation({
    mutationFn: () => api.turnCampaign(merchId, id, isPaused ? 'resume' : 'pause'),
    onSettled: onChanged,
  })
  return (
    <section aria-labelledby={`campaign-${id}`} className="panel space-y-3 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 id={`campaign-${id}`} className="grow">
          Campaign {id}: {termsOf(campaign)}
        </h2>
        <span
          className={`chip ${state === 'running' ? 'bg-tint text-accent' : 'bg-bad-tint text-bad'}`}
        >
          {STATES[state]}
        </span>
      </div>
      <p className="text-sm text-soft">{whyOf(campaign)}</p>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-2 text-sm sm:grid-cols-4">
        <Fact name="Spent today" value={ofBudget(campaign.spent_today, campaign.daily_budget)} />
        <Fact name="Spent in total" value={ofBudget(campaign.spent, campaign.budget)} />
        <Fact name="Countries" value={campaign.country.join(', ') || 'all'} />
        <Fact name="Devices" value={campaign.device.join(', ') || 'all'} />
      </dl>
      {campaign.conflicts.map((conflict) => (
        <p key={conflict} className="text-sm text-bad">
          {conflict}
        </p>
      ))}
      {turn.error !== null && <Failure error={turn.error} />}
      {canChange && (
        <div className="flex gap-2">
          <button type="button" className="button" onClick={onEdit}>
            Edit<span className="sr-only"> campaign {id}</span>
          </button>
          {(pausedBy !== 'operator' || isOperator) && (
            <button
              type="button"
              className="button"
              aria-busy={turn.isPending}
              onClick={() => turn.mutate()}
            >
              {isPaused ? 'Resume' : 'Pause'}
              <span className="sr-only"> campaign {id}</span>
            </button>
          )}
        </div>
      )}
    </section>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt className="text-soft">{name}</dt>
      <dd className="number">{value}</dd>
    </div>
  )
}

const ofBudget = (spent: string, budget: string | null): string =>
  budget === null ? `${cents(spent)}, no limit` : `${cents(spent)} of ${dollars(budget)}`

function termsOf({ bid, exclusive_bid: exclusive, rate, payment, roas }: Campaign): string {
  if (bid !== null) {
    const only = exclusive === null ? '' : `, ${dollars(exclusive)} on exclusive links`
    const goal = roas === null ? '' : `, for ${roas} in revenue per $1`
    return `up to ${dollars(bid)} a click${only}${goal}`
  }
  return rate === null ? `${dollars(payment ?? '0')} a purchase` : `${percent(rate)} of each order`
}

const STATES: Readonly<Record<Campaign['state'], string>> = {
  running: 'Running',
  paused: 'Paused',
  scheduled: 'Not started yet',
  ended: 'Ended',
  out_of_budget: 'Budget spent',
  no_feed: 'Product feed too old',
  waiting_for_orders: 'Budget reserved for expected orders',
}

/** What the state means, and what to do about it. */
function whyOf({ state, paused_by: pausedBy, start, end }: Campaign): string {
  switch (state) {
    case 'running':
      return end === null ? 'It competes in every auction that fits.' : `Until ${date(end)}.`
    case 'paused':
      return pausedBy === 'operator'
        ? 'Paused by the operator of this network: ask them to resume it.'
        : 'It enters no auction until you resume it.'
    case 'scheduled':
      return start === null ? 'It has not started yet.' : `It starts on ${date(start)}.`
    case 'ended':
      return 'Change its end to run it again.'
    case 'out_of_budget':
      return 'It goes on tomorrow, or as soon as you raise the budget.'
    case 'no_feed':
      return 'Your product feed is older than 24 hours. Import it again.'
    case 'waiting_for_orders':
      return 'Orders still to come will use up the budget. Raise it to compete for more clicks.'
  }
}
