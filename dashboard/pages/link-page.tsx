/** One smart link: what it earns or why it does not, its auctions, winners and prices. */
import { useQuery } from '@tanstack/react-query'
import { Link as RouteLink, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { articleHref, articleTitle, cents, count, shortUrl } from '../format.ts'
import { useCan, usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { type Link, publisherApi } from '../publisher-api.ts'
import { linkName } from '../publisher-health.ts'
import { addDays, utcDay } from '../range-days.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure } from '../ui/notice.tsx'
import { ProductPicture } from '../ui/product-picture.tsx'
import { CardsSkeleton } from '../ui/skeleton.tsx'
import { TimeChart } from '../ui/time-chart.tsx'
import { Title } from '../ui/title.tsx'
import { LinkAuctions } from './link-auctions.tsx'
import { HEALTH, HealthChip } from './link-health.tsx'
import { LinkMenu } from './link-menu.tsx'
import { LinkReasons } from './link-reasons.tsx'

export function LinkPage() {
  const { id } = useParams({ from: PATHS.link })
  const { pub_id: pubId } = usePublisher()
  const link = useQuery({
    queryKey: ['link', pubId, id],
    queryFn: () => publisherApi.link(pubId, id),
  })
  return (
    <div className="space-y-5">
      <p className="mb-1! text-sm text-soft">
        <RouteLink to={PATHS.links} className="link">
          Links
        </RouteLink>{' '}
        / link
      </p>
      {link.failureReason !== null && (
        <Failure error={link.failureReason} isGoingOn={link.isFetching} />
      )}
      {link.isPending && link.failureReason === null && (
        <>
          <Title>Link</Title>
          <CardsSkeleton />
        </>
      )}
      {link.data === null && (
        <EmptyState title="No such link" isPage>
          This publisher has no link {id}. It may belong to another of your organizations.
        </EmptyState>
      )}
      {link.data != null && <Shown link={link.data} />}
    </div>
  )
}

function Shown({ link }: { link: Link }) {
  return (
    <>
      <Head link={link} />
      <Standing link={link} />
      <Figures link={link} />
      <Trend link={link} />
      <LinkAuctions id={link.auction_id} />
    </>
  )
}

function Head({ link }: { link: Link }) {
  const { url, smart_link_url: smart, auction_id: id } = link
  const canChange = useCan('links.write')
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 items-start gap-3">
          <ProductPicture url={link.product?.image_url ?? null} size="medium" />
          <div className="min-w-0 space-y-1">
            <Title name={linkName(link)} />
            <p className="flex flex-wrap items-center gap-2">
              <HealthChip health={link.health} />
              {link.exclusive_match_requested && (
                <span className="chip gap-1">
                  <Icon name="lock" size={12} />
                  Locked to one merchant
                </span>
              )}
            </p>
          </div>
        </div>
        <div className="flex items-center gap-2">
          <CopyButton text={smart} label="Copy link" of={id} />
          <LinkMenu link={link} name={linkName(link)} />
        </div>
      </div>
      <dl className="grid gap-x-6 gap-y-1 text-sm sm:grid-cols-[auto_1fr]">
        <dt className="text-soft">Product page</dt>
        <dd className="min-w-0 truncate">
          {url === '' ? (
            'None: the link leads to its article'
          ) : (
            <a href={url} target="_blank" rel="noreferrer" className="link">
              <bdi>{shortUrl(url)}</bdi>
            </a>
          )}
        </dd>
        <dt className="text-soft">Article</dt>
        <dd className="min-w-0 truncate">
          <a
            href={articleHref(link.article_url)}
            target="_blank"
            rel="noreferrer"
            className="hover:underline"
          >
            <bdi>{articleTitle(link)}</bdi>
          </a>
        </dd>
        <dt className="text-soft">Smart link</dt>
        <dd className="min-w-0 truncate font-mono text-[0.8125rem]">{smart}</dd>
      </dl>
      {!canChange && <p className="text-sm text-soft">A manager or owner can change this link.</p>}
    </div>
  )
}

/** Whether it earns, and what would help. */
function Standing({ link }: { link: Link }) {
  const { health, product, money_at_risk: risk } = link
  const isLosing = Number(risk) > 0
  const isLockedOut =
    link.exclusive_match_requested && (health === 'no_bid' || health === 'out_of_stock')
  return (
    <section aria-labelledby="standing" className="panel space-y-3 p-4">
      <h2 id="standing">{health === 'earning' ? 'This link earns' : HEALTH[health].label}</h2>
      <p className="max-w-prose">
        {isLockedOut
          ? 'This link is locked to one merchant, which does not pay now. Unlock it with “Edit”, so that others can win it.'
          : HEALTH[health].advice}
      </p>
      {isLosing && (
        <p className="max-w-prose font-medium text-second">
          It earned {cents(risk)} a day before it stopped.
        </p>
      )}
      {product !== null && (
        <p className="max-w-prose text-sm text-soft">
          At <bdi>{product.merchant_name}</bdi> it costs {cents(product.price)} and is{' '}
          {product.in_stock ? 'in stock' : 'out of stock'}.{' '}
          <RouteLink to={PATHS.products} search={{ find: product.name }} className="link">
            See every merchant’s offer
          </RouteLink>
        </p>
      )}
      <LinkReasons id={link.auction_id} />
    </section>
  )
}

function Figures({ link }: { link: Link }) {
  const epc = link.earnings_per_click
  const cards = [
    { name: 'Earnings', value: cents(link.earnings), note: 'last 30 days' },
    {
      ...{ name: 'Clicks', value: count(link.clicks) },
      note: `${count(link.invalid_clicks)} more were not valid`,
    },
    { name: 'Per click', value: epc === null ? '–' : cents(epc), note: 'earnings over clicks' },
    { name: 'Orders', value: count(link.orders), note: `${cents(link.revenue)} revenue` },
    { name: 'Views', value: count(link.impressions), note: 'the link loaded on a page' },
  ]
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
      {cards.map(({ name, value, note }) => (
        <div key={name} className="panel px-4 py-3">
          <dt className="text-sm text-soft">{name}</dt>
          <dd className="number text-2xl font-semibold tracking-tight">{value}</dd>
          <dd className="text-xs text-soft">{note}</dd>
        </div>
      ))}
    </dl>
  )
}

function Trend({ link: { earnings_by_day: days } }: { link: Link }) {
  const today = utcDay(Date.now())
  const points = useMemo(
    () =>
      days.map((value, at) => ({
        at: addDays(today, at + 1 - days.length),
        value: Number(value),
      })),
    [days, today],
  )
  if (points.every(({ value }) => value === 0)) return null
  return <TimeChart label="Earnings" points={points} isMoney openFrom={today} />
}
