/** A publisher's smart links, those that lose most first, with a search and a form for new ones. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link as RouteLink } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useAddress } from '../address.ts'
import { api, type CreateSmartLinkBody } from '../api.ts'
import { useCan, usePublisher } from '../organization.ts'
import { HEALTHS, PATHS, type Search } from '../paths.ts'
import { publisherApi } from '../publisher-api.ts'
import { EmptyState, Failure } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'
import { HEALTH } from './link-health.tsx'
import { LinkTable } from './link-table.tsx'
import { NewLinkForm } from './new-link-form.tsx'
import { UnattributedRedirects } from './unattributed-redirects.tsx'

export function LinksPage() {
  const { pub_id: pubId } = usePublisher()
  const [{ find = null, health = null }, change] = useAddress()
  const [isMaking, setMaking] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const pages = usePages(['links', pubId, find, health], (cursor) =>
    publisherApi.links(pubId, { search: find, health, cursor }),
  )
  const links = pages.data?.pages.flatMap(({ rows }) => rows) ?? []
  const isFiltered = find !== null || health !== null
  return (
    <div className="space-y-5">
      <Head opener={opener} isMaking={isMaking} onMake={() => setMaking(true)} />
      {isMaking && (
        <MakeLink
          onClose={() => {
            setMaking(false)
            opener.current?.focus() // Return the focus to the button that opened the form.
          }}
        />
      )}
      {!isFiltered && <Unattributed />}
      {(isFiltered || links.length > 0 || pages.isPending) && (
        <div className="flex flex-wrap items-center gap-2">
          <SearchForm field={field} />
          <HealthFilter health={health} onChange={(next) => change({ health: next })} />
        </div>
      )}
      {pages.isPending && pages.failureReason === null && <TableSkeleton />}
      {pages.failureReason !== null && (
        <Failure error={pages.failureReason} isGoingOn={pages.isFetching} />
      )}
      {pages.isSuccess && links.length === 0 && (isFiltered || !isMaking) && (
        <NoLinks
          find={find}
          isFiltered={isFiltered}
          onAll={() => {
            field.current?.focus() // The button disappears, so focus the search field.
            change({ find: undefined, health: undefined })
          }}
        />
      )}
      {links.length > 0 && <LinkTable links={links} />}
      <NextPage pages={pages} label="More links" />
    </div>
  )
}

function Head(props: {
  opener: RefObject<HTMLButtonElement | null>
  isMaking: boolean
  onMake: () => void
}) {
  const canCreate = useCan('links.write')
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <Title>Smart links</Title>
      {canCreate ? (
        <div className="flex flex-wrap gap-2">
          <RouteLink to={PATHS.article} className="button">
            Paste an article
          </RouteLink>
          <button
            ref={props.opener}
            type="button"
            className="button button-main"
            aria-expanded={props.isMaking}
            onClick={props.onMake}
          >
            New link
          </button>
        </div>
      ) : (
        <p className="text-sm text-soft">A manager or owner can create and change links.</p>
      )}
    </div>
  )
}

function MakeLink({ onClose }: { onClose: () => void }) {
  const { pub_id: pubId } = usePublisher()
  const client = useQueryClient()
  const make = useMutation({
    mutationFn: (body: CreateSmartLinkBody) => api.createLink(pubId, body),
    onSuccess: () => client.invalidateQueries({ queryKey: ['links', pubId] }),
  })
  return (
    <NewLinkForm
      made={make.data ?? null}
      error={make.error}
      isPending={make.isPending}
      onMake={make.mutateAsync}
      onClose={onClose}
    />
  )
}

/** Clicks on links that do not name this publisher. */
function Unattributed() {
  const { pub_id: pubId } = usePublisher()
  const pages = usePages(['unattributed', pubId], (cursor) =>
    api.links(pubId, { search: null, cursor }),
  )
  return <UnattributedRedirects rows={pages.data?.pages[0]?.unattributed ?? []} />
}

function HealthFilter(props: {
  health: Search['health'] | null
  onChange: (health: Search['health']) => void
}) {
  return (
    <select
      aria-label="State"
      className="field field-small w-44 max-w-full"
      value={props.health ?? ''}
      onChange={({ target }) => props.onChange(HEALTHS.find((one) => one === target.value))}
    >
      <option value="">All states</option>
      {HEALTHS.map((one) => (
        <option key={one} value={one}>
          {HEALTH[one].label}
        </option>
      ))}
    </select>
  )
}

function SearchForm({ field }: { field: RefObject<HTMLInputElement | null> }) {
  const [{ find = '' }, change] = useAddress()
  const asked = useRef(find)
  const ask = (text: string) => {
    asked.current = text.trim()
    change({ find: asked.current || undefined })
  }
  // Follows changes from elsewhere, such as the back button, but does not disturb typing.
  useEffect(() => {
    if (field.current === null || find === asked.current) return
    field.current.value = asked.current = find
  }, [find, field])
  return (
    <search className="grow sm:max-w-md">
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          ask(field.current?.value ?? '')
        }}
      >
        <input
          ref={field}
          type="search"
          name="find"
          aria-label="Find links"
          placeholder="URL or article of a link"
          className="field field-small"
          defaultValue={find}
          // The field's clear button empties it without submitting.
          onChange={({ target }) => target.value === '' && ask('')}
        />
        <button type="submit" className="button button-small">
          Find
        </button>
      </form>
    </search>
  )
}

function NoLinks(props: { find: string | null; isFiltered: boolean; onAll: () => void }) {
  const { find, isFiltered, onAll } = props
  if (isFiltered) {
    return (
      <EmptyState title={find === null ? 'No link in this state' : `No smart link with “${find}”`}>
        {find !== null && (
          <p>The search covers the URLs of links, and the URLs and names of their articles.</p>
        )}
        <button type="button" className="button mt-3" onClick={onAll}>
          Show all links
        </button>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No smart link yet">
      <p>
        A smart link replaces a link to a shop in an article. At each page view, the merchants that
        sell the product compete for the click. Create one with “New link”, or let the page tag
        create them from the links in your articles.
      </p>
    </EmptyState>
  )
}
