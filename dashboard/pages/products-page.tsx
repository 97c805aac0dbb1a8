/** Searches the products of all merchants, and copies links and buttons to their offers. */
import { useEffect, useRef } from 'react'
import { useAddress } from '../address.ts'
import { usePublisher } from '../organization.ts'
import { publisherApi } from '../publisher-api.ts'
import { EmptyState, Failure } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'
import { ProductCard } from './product-card.tsx'

export function ProductsPage() {
  const [{ find = '' }] = useAddress()
  return (
    <div className="space-y-5">
      <Title>Products</Title>
      <p className="max-w-prose text-soft">
        Find a product that merchants of the network sell, compare their offers, and copy a link or
        a button that earns.
      </p>
      <Search />
      {find === '' ? (
        <EmptyState title="Search for a product" icon="search">
          Type words of its name or brand, its GTIN (the number under the bar code), a merchant’s
          SKU, or paste the URL of its page.
        </EmptyState>
      ) : (
        <Results find={find} />
      )}
    </div>
  )
}

function Search() {
  const [{ find = '' }, change] = useAddress()
  const field = useRef<HTMLInputElement>(null)
  // Follows changes from elsewhere, such as the back button.
  useEffect(() => {
    if (field.current !== null) field.current.value = find
  }, [find])
  return (
    <search>
      <form
        className="flex max-w-xl gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          change({ find: field.current?.value.trim() || undefined })
        }}
      >
        <input
          ref={field}
          type="search"
          name="find"
          aria-label="Find products"
          placeholder="Words, GTIN, SKU or URL"
          className="field"
          defaultValue={find}
        />
        <button type="submit" className="button button-main">
          Search
        </button>
      </form>
    </search>
  )
}

function Results({ find }: { find: string }) {
  const { pub_id: pubId } = usePublisher()
  const pages = usePages(['products', pubId, find], (cursor) =>
    publisherApi.products(pubId, find, cursor),
  )
  const products = pages.data?.pages.flatMap(({ rows }) => rows) ?? []
  if (pages.failureReason !== null) {
    return <Failure error={pages.failureReason} isGoingOn={pages.isFetching} />
  }
  if (pages.isPending) return <TableSkeleton />
  if (products.length === 0) {
    return (
      <EmptyState title={`Nobody sells “${find}” here`}>
        All words must occur in the name or brand of a product. Try fewer words, or its GTIN.
      </EmptyState>
    )
  }
  return (
    <>
      <ul className="space-y-4">
        {products.map((product) => (
          <li key={product.product_id}>
            <ProductCard product={product} />
          </li>
        ))}
      </ul>
      <NextPage pages={pages} label="More products" />
    </>
  )
}
