/** A publisher's links, those that lose most first. A row leads to the link's own page. */
import { Link as RouteLink, useNavigate } from '@tanstack/react-router'
import { articleTitle, cents } from '../format.ts'
import { PATHS } from '../paths.ts'
import type { Link } from '../publisher-api.ts'
import { linkName } from '../publisher-health.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { ProductPicture } from '../ui/product-picture.tsx'
import { Sparkline } from '../ui/sparkline.tsx'
import { HEALTH, HealthChip } from './link-health.tsx'
import { LinkMenu } from './link-menu.tsx'

function perClick(rows: readonly Link[]): string {
  const clicks = rows.reduce((sum, row) => sum + row.clicks, 0)
  const earned = rows.reduce((sum, row) => sum + Number(row.earnings), 0)
  return clicks === 0 ? '' : cents(String(earned / clicks))
}

const COLUMNS: readonly Column<Link>[] = [
  {
    ...{ id: 'product', head: 'Product', value: linkName },
    cell: (link) => (
      <span className="flex items-center gap-2">
        <ProductPicture url={link.product?.image_url ?? null} size="small" />
        <bdi title={link.url} className="min-w-0 truncate">
          {linkName(link)}
        </bdi>
      </span>
    ),
  },
  {
    ...{ id: 'copy', head: 'Link', value: (link) => link.smart_link_url },
    cell: (link) => <LinkMenu link={link} name={linkName(link)} />,
  },
  {
    ...{ id: 'health', head: 'State', value: ({ health }) => HEALTH[health].label },
    cell: ({ health }) => <HealthChip health={health} />,
  },
  {
    ...{ id: 'risk', head: 'Lost a day', kind: 'money', isSum: true },
    value: ({ money_at_risk: risk }) => (Number(risk) === 0 ? null : risk),
  },
  { id: 'clicks', head: 'Clicks', kind: 'count', isSum: true, value: ({ clicks }) => clicks },
  {
    ...{ id: 'earnings', head: 'Earnings', kind: 'money', isSum: true },
    value: ({ earnings }) => earnings,
  },
  {
    ...{ id: 'epc', head: 'Per click', kind: 'money', total: perClick },
    value: ({ earnings_per_click: epc }) => epc,
  },
  {
    ...{ id: 'trend', head: 'Trend' },
    value: ({ earnings_by_day: days }) => days.join(' '),
    cell: ({ earnings_by_day: days }) => (
      // Without today, which is not over.
      <Sparkline
        values={days.slice(0, -1).map(Number)}
        label={`Earnings of the days before today; yesterday ${cents(days.at(-2) ?? '0')}`}
      />
    ),
  },
  {
    ...{ id: 'article', head: 'Article', value: (link) => articleTitle(link) },
    cell: (link) => (
      <a href={link.article_url} target="_blank" rel="noreferrer" className="hover:underline">
        <bdi>{articleTitle(link)}</bdi>
      </a>
    ),
  },
  {
    ...{ id: 'lock', head: 'Lock' },
    value: (link) => (link.exclusive_match_requested ? 'Locked to one merchant' : null),
  },
  {
    ...{ id: 'merchant', head: 'Shop', isHidden: true },
    value: ({ product }) => product?.merchant_name ?? null,
  },
  {
    ...{ id: 'orders', head: 'Orders', kind: 'count', isSum: true, isHidden: true },
    value: ({ orders }) => orders,
  },
  {
    ...{ id: 'unpaid', head: 'Unpaid clicks', kind: 'count', isSum: true, isHidden: true },
    value: ({ invalid_clicks: invalid }) => invalid,
  },
  {
    ...{ id: 'created', head: 'Created', kind: 'day', isHidden: true },
    value: ({ datetime_created: at }) => at,
  },
]

export function LinkTable({ links }: { links: readonly Link[] }) {
  const navigate = useNavigate()
  return (
    <DataTable
      id="links"
      label="Links"
      isFilterless
      rows={links}
      keyOf={(link) => link.auction_id}
      columns={COLUMNS}
      sort={{ by: 'risk' }}
      onRow={(link) => void navigate({ to: PATHS.link, params: { id: link.auction_id } })}
      note={
        <>
          Figures of the last 30 days. “Lost a day” is what a link earned a day before it stopped.{' '}
          <RouteLink to={PATHS.unfilled} className="link">
            Unfilled auctions
          </RouteLink>{' '}
          say what each reason costs.
        </>
      }
    />
  )
}
