/** Changes of a smart link by its publisher. */
import { notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { refusingTaken } from '../platform/postgres/refuse-taken.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { hashOfUrl } from './store.ts'

export interface ChangedLink {
  readonly smart_link_id: number
  readonly auction_id: string
  readonly pub_id: number
  readonly url: string | null
  readonly is_exclusive: boolean
  readonly state: 'active' | 'disabled'
  readonly disabled_by: 'publisher' | 'operator' | null
  readonly article_id: number
  readonly article_name: string
  readonly article_url: string
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** Names a link of a publisher by its `smart_link_id` or its `auction_id`. */
export interface LinkName {
  readonly pubId: number
  readonly id: string
}

const COLUMNS = sql`smart_link_id, auction_id, l.pub_id, l.url, is_exclusive, state, disabled_by,
  l.article_id, a.name as article_name, a.url as article_url, l.datetime_created,
  l.datetime_updated`

/** Throws a 404 for a link of another publisher. */
export function findChangedLink(db: Db, name: LinkName): Promise<ChangedLink> {
  return found(db, name, sql``)
}

/** The same; nobody else changes the link until the transaction ends. */
export function lockLink(tx: Db, name: LinkName): Promise<ChangedLink> {
  return found(tx, name, sql`for update of l`)
}

async function found(db: Db, { pubId, id }: LinkName, lock: Sql): Promise<ChangedLink> {
  const row = await db.row<ChangedLink>(sql`
    select ${COLUMNS} from smart_link l join article a using (article_id)
    where l.pub_id = ${pubId} and ${id}::bigint in (auction_id, smart_link_id) ${lock}`)
  if (row === null) throw notFound(`No smart link ${id}`)
  return row
}

export async function updateLink(
  tx: Db,
  link: Pick<ChangedLink, 'auction_id' | 'url' | 'is_exclusive' | 'state' | 'disabled_by'>,
): Promise<void> {
  const { auction_id, url, is_exclusive, state, disabled_by } = link
  const update = () =>
    tx.run(sql`
      update smart_link set url = ${url}, url_hash = ${hashOfUrl(url)},
        is_exclusive = ${is_exclusive}, state = ${state}, disabled_by = ${disabled_by},
        datetime_updated = now()
      where auction_id = ${auction_id}::bigint`)
  await refusingTaken(update, () => {
    return { field: 'url', rule: 'another link of this article has this URL' }
  })
}
