/** Lists a publisher's smart links, newest first, with a search and a form to create one. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useAddress } from '../address.ts'
import { api, type CreateSmartLinkBody, type LinkPage } from '../api.ts'
import { articleHref, articleTitle, date, shortUrl } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { Title } from '../ui/title.tsx'
import { NewLinkForm } from './new-link-form.tsx'
import { UnattributedRedirects } from './unattributed-redirects.tsx'

type ListedLink = LinkPage['links'][number]

export function LinksPage() {
  const { pub_id: pubId } = usePublisher()
  const [{ find = null }, change] = useAddress()
  const [isMaking, setMaking] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const pages = usePages(['links', pubId, find], (cursor) =>
    api.links(pubId, { search: find, cursor }),
  )
  const client = useQueryClient()
  const make = useMutation({
    mutationFn: (body: CreateSmartLinkBody) => api.createLink(pubId, body),
    onSuccess: () => client.invalidateQueries({ queryKey: ['links', pubId] }),
  })
  const links = pages.data?.pages.flatMap((page) => page.links) ?? []
  return (
    <div className="space-y-5">
      <div className="flex flex-wrap items-center justify-between gap-4">
        <Title>Smart links</Title>
        <button
          ref={opener}
          type="button"
          className="button button-main"
          aria-expanded={isMaking}
          onClick={() => setMaking(true)}
        >
          New link
        </button>
      </div>
      {isMaking && (
        <NewLinkForm
          made={make.data ?? null}
          error={make.error}
          isPending={make.isPending}
          onMake={make.mutateAsync}
          onClose={() => {
            make.reset()
            setMaking(false)
            opener.current?.focus() // Return the focus to the button that opened the form.
          }}
        />
      )}
      {find === null && <UnattributedRedirects rows={pages.data?.pages[0]?.unattributed ?? []} />}
      {(find !== null || links.length > 0 || pages.isPending) && <SearchForm field={field} />}
      {pages.isSuccess && links.length === 0 && (find !== null || !isMaking) && (
        <NoLinks
          find={find}
          onAll={() => {
            field.current?.focus() // The button disappears, so focus the search field.
            change({ find: undefined })
          }}
        />
      )}
      {links.length > 0 && <LinkList links={links} />}
      <Progress query={pages} />
      <NextPage pages={pages} label="Older links" />
    </div>
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
    <search>
      <form
        className="flex max-w-xl gap-2"
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
          className="field"
          defaultValue={find}
          // The field's clear button empties it without submitting.
          onChange={({ target }) => target.value === '' && ask('')}
        />
        <button type="submit" className="button">
          Find
        </button>
      </form>
    </search>
  )
}

function NoLinks({ find, onAll }: { find: string | null; onAll: () => void }) {
  if (find !== null) {
    return (
      <EmptyState title={`No smart link with “${find}”`}>
        <p>The search covers the URLs of links, and the URLs and names of their articles.</p>
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

function LinkList({ links }: { links: readonly ListedLink[] }) {
  return (
    <ul className="panel divide-y divide-line">
      {links.map((link) => (
        <LinkLine key={link.auction_id} link={link} />
      ))}
    </ul>
  )
}

const SOURCES: Readonly<Record<string, string>> = {
  api: 'created in the dashboard or by API',
  linkmate: 'created by the page tag',
  wrapper: 'created at a click',
}

function LinkLine({ link }: { link: ListedLink }) {
  const { url, article_url, auction_id, smart_link_url, state } = link
  return (
    <li className="grid grid-cols-1 gap-x-6 gap-y-2 px-4 py-3 md:grid-cols-[1fr_auto]">
      <div className="min-w-0">
        <p className="line-clamp-3 font-medium" title={url ?? article_url}>
          {url === null ? 'No product. Leads to its article.' : shortUrl(url)}
        </p>
        <p dir="auto" className="truncate text-left text-sm text-soft">
          <a
            href={articleHref(article_url)}
            target="_blank"
            rel="noreferrer"
            className="hover:underline"
          >
            {articleTitle(link)}
          </a>
        </p>
        <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft">
          {state === 'disabled' && <span className="chip bg-bad-tint text-bad">Disabled</span>}
          {link.exclusive_match_requested && <span className="chip">Locked to one merchant</span>}
          <span>
            {date(link.datetime_created)}, {SOURCES[link.source] ?? link.source}
          </span>
        </p>
      </div>
      <div className="flex min-w-0 items-center gap-3">
        <code className="number min-w-0 grow truncate font-mono text-[0.8125rem] text-soft">
          {auction_id}
        </code>
        <CopyButton text={smart_link_url} label="Copy link" of={auction_id} />
      </div>
    </li>
  )
}
