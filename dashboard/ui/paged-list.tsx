/** Lists that are read on a page at a time, each of which says where the next one begins. */
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'

export function usePages<Page extends { readonly next: string | null }>(
  queryKey: QueryKey,
  read: (cursor: string | null) => Promise<Page>,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })
}

/** The way to the next page, where there is one. */
export function NextPage(props: {
  pages: {
    hasNextPage: boolean
    isFetchingNextPage: boolean
    fetchNextPage: () => Promise<unknown>
  }
  label: string
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = props.pages
  if (!hasNextPage) return null
  return (
    <button
      type="button"
      className="button"
      aria-busy={isFetchingNextPage}
      onClick={() => isFetchingNextPage || void fetchNextPage()}
    >
      {isFetchingNextPage ? 'Loading …' : props.label}
    </button>
  )
}
