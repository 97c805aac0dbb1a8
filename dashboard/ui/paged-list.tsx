/** Lists that load page by page by cursor. */
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

/** A button that loads the next page, or a note at the end of the list. */
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
  // One button throughout keeps the keyboard focus.
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
      {isFetchingNextPage ? 'Loading …' : isEnd ? 'End of the list' : props.label}
    </button>
  )
}
