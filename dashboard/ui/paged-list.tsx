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

/** The way to the next page, where there is one; after the last it says so. */
export function NextPage(props: {
  pages: {
    data: { readonly pages: readonly unknown[] } | undefined
    hasNextPage: boolean
    isFetchingNextPage: boolean
    fetchNextPage: () => Promise<unknown>
  }
  label: string
}) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = props.pages
  // One button to the end of the list: the keyboard stays where it is.
  const isEnd = !hasNextPage && data !== undefined && data.pages.length > 1
  if (!hasNextPage && !isEnd) return null
  return (
    <button
      type="button"
      className="button"
      aria-busy={isFetchingNextPage}
      aria-disabled={isEnd}
      onClick={() => isFetchingNextPage || isEnd || void fetchNextPage()}
    >
      {isFetchingNextPage ? 'Loading …' : isEnd ? 'That is all' : props.label}
    </button>
  )
}
