/** A merchant's products: stock, matches with other shops, clicks and cost. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useAddress } from '../address.ts'
import { cents, date } from '../format.ts'
import { merchantApi, type Offer } from '../merchant-api.ts'
import { useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { Choice } from '../ui/choice.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Facts, known } from '../ui/facts.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage } from '../ui/paged-list.tsx'
import { ProductPicture } from '../ui/product-picture.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

const STATES = [
  { value: 'all', label: 'All' },
  { value: 'in_stock', label: 'In stock' },
  { value: 'out_of_stock', label: 'Out of stock' },
  { value: 'unmatched', label: 'Sold by you alone' },
  { value: 'rejected', label: 'Rejected' },
] as const

export function MerchantProductsPage() {
  const { merch_id: merchId, name } = useMerchant()
  const [{ find = '', state }, change] = useAddress()
  const [shown, show] = useState<Offer | null>(null)
  const chosen = STATES.find(({ value }) => value === state)?.value ?? 'all'
  const pages = useInfiniteQuery({
    queryKey: ['offers', merchId, find, chosen],
    queryFn: ({ pageParam }) =>
      merchantApi.offers(merchId, {
        q: find,
        state: chosen === 'all' ? null : chosen,
        cursor: pageParam,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <div className="space-y-5">
      <Title name={name}> · Products</Title>
      <p className="max-w-prose text-soft">
        The offers of your feed. Clicks and cost are those of the last 30 days.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <SearchForm text={find} onSearch={(text) => change({ find: text || undefined })} />
        <Choice
          label="Which products"
          options={STATES}
          value={chosen}
          onChange={(next) => change({ state: next === 'all' ? undefined : next })}
        />
      </div>
      {pages.failureReason !== null && <Progress query={pages} />}
      {pages.data === undefined && pages.failureReason === null && <TableSkeleton rows={12} />}
      {pages.data !== undefined && (
        <DataTable
          key={chosen === 'rejected' ? 'rejected' : 'offers'}
          id={chosen === 'rejected' ? 'rejected-products' : 'products'}
          label="Products"
          isBare
          rows={rows}
          keyOf={(row) => row.offer_id ?? `line ${row.line}`}
          columns={chosen === 'rejected' ? REJECTED_COLUMNS : COLUMNS}
          onRow={show}
          empty={<NoProduct isFiltered={find !== '' || chosen !== 'all'} state={chosen} />}
        />
      )}
      <NextPage pages={pages} label="More products" />
      {shown !== null && <Details offer={shown} onClose={() => show(null)} />}
    </div>
  )
}

function SearchForm({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const [typed, type] = useState(text)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(typed.trim())
  }
  return (
    <search className="max-sm:w-full">
      <form onSubmit={submit} className="flex gap-2">
        <input
          type="search"
          aria-label="Search products"
          placeholder="Words, SKU or GTIN"
          className="field w-64 max-sm:w-full"
          value={typed}
          onChange={({ target }) => {
            type(target.value)
            if (target.value === '') onSearch('')
          }}
        />
        <button type="submit" className="button">
          <Icon name="search" />
          Search
        </button>
      </form>
    </search>
  )
}

const titleOf = ({ title, sku, line }: Offer): string => title ?? sku ?? `Line ${line}`

const COLUMNS: readonly Column<Offer>[] = [
  {
    ...{ id: 'title', head: 'Product', value: titleOf },
    cell: (offer) => (
      <span className="flex items-center gap-2">
        <ProductPicture url={offer.image_url} size="small" />
        <bdi className="min-w-0 truncate">{titleOf(offer)}</bdi>
      </span>
    ),
  },
  { id: 'sku', head: 'SKU', value: ({ sku }) => sku },
  { id: 'gtin', head: 'GTIN', value: ({ gtin }) => gtin, isHidden: true },
  { id: 'brand', head: 'Brand', value: ({ brand }) => brand, isHidden: true },
  {
    id: 'state',
    head: 'Stock',
    value: ({ state }) => (state === 'in_stock' ? 'In stock' : 'Out of stock'),
    cell: ({ state }) => (
      <span className={`chip ${state === 'in_stock' ? 'bg-tint text-accent' : ''}`}>
        {state === 'in_stock' ? 'In stock' : 'Out of stock'}
      </span>
    ),
  },
  { id: 'price', head: 'Price', kind: 'money', value: ({ price }) => price },
  { id: 'matches', head: 'Other shops', kind: 'count', value: ({ matches }) => matches },
  { id: 'clicks', head: 'Clicks', kind: 'count', isSum: true, value: ({ clicks }) => clicks },
  { id: 'cost', head: 'Cost', kind: 'money', isSum: true, value: ({ cost }) => cost },
]

const REJECTED_COLUMNS: readonly Column<Offer>[] = [
  { id: 'title', head: 'Product', value: titleOf },
  { id: 'line', head: 'Line', value: ({ line }) => (line === null ? null : String(line)) },
  { id: 'reason', head: 'Reason', value: ({ reject_detail }) => reject_detail },
]

function Details({ offer, onClose }: { offer: Offer; onClose: () => void }) {
  const { sku, gtin, brand, price, matches, url, image_url: image, line } = offer
  return (
    <Dialog title={titleOf(offer)} isOpen onOpenChange={onClose}>
      {offer.state === 'rejected' ? (
        <>
          <p className="text-bad first-letter:uppercase">{offer.reject_detail}</p>
          <p className="mt-2">
            Line {line} of the last feed.{' '}
            <Link to={PATHS.merchantFeed} className="link">
              The feed’s page
            </Link>{' '}
            says how to fix it.
          </p>
        </>
      ) : (
        <>
          {image !== null && (
            <div className="mb-3">
              <ProductPicture url={image} size="large" />
            </div>
          )}
          <p>{matchWords(matches)}</p>
          <Facts
            facts={[
              ...known('SKU', sku),
              ...known('GTIN', gtin),
              ...known('Brand', brand),
              ...known('Price', price === null ? null : cents(price)),
              ...known('In the feed of', date(offer.datetime_updated)),
            ]}
          />
          {url !== null && (
            <p className="mt-3 text-sm wrap-anywhere">
              <a href={url} target="_blank" rel="noreferrer" className="link">
                {url}
              </a>
            </p>
          )}
        </>
      )}
    </Dialog>
  )
}

function matchWords(matches: number): string {
  if (matches === 0) {
    return 'No other shop sells it now, as far as we can match it. It competes for links to this page alone. A GTIN makes more matches.'
  }
  return `${matches} other ${matches === 1 ? 'shop sells' : 'shops sell'} the same product: you compete for each other’s links.`
}

function NoProduct({ isFiltered, state }: { isFiltered: boolean; state: string }) {
  if (state === 'rejected') {
    return (
      <EmptyState title="No rejected rows">Every row of the last import was accepted.</EmptyState>
    )
  }
  if (isFiltered) {
    return (
      <EmptyState title="No such product">
        Search for other words, a whole SKU or a whole GTIN, or choose “All”.
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No products yet">
      Your products come from your feed.{' '}
      <Link to={PATHS.merchantFeed} className="link">
        Add your feed
      </Link>
      .
    </EmptyState>
  )
}
