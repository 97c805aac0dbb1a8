/**
 * The words of current offers, for product search. A job adds what imports changed, so that imports
 * stay fast: an index of words costs more than all others of an offer.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** One statement of a batch takes about a second. */
const BATCH_OFFERS = 10_000
/** Letters and digits; a longer word is a number or a mistake, and nobody searches for it. */
const WORD_LENGTH_MAX = 40

interface ChangedMerchant {
  readonly merch_id: number
  readonly generation: number
  readonly done: number
}

/** Merchants whose offers have changed since their words were written. */
export function listMerchantsWithNewWords(db: Db): Promise<ChangedMerchant[]> {
  return db.rows(sql`
    select merch_id, merchant.generation, coalesce(state.generation, 0) as done
    from merchant left join offer_words_state state using (merch_id)
    where merchant.generation <> coalesce(state.generation, 0)
    order by merch_id`)
}

/** Brings the words up to date; returns how many merchants' offers had changed. */
export async function updateProductWords(db: Db): Promise<number> {
  const changed = await listMerchantsWithNewWords(db)
  for (const merchant of changed) {
    await addWords(db, merchant)
    await db.run(sql`
      delete from offer_words
      where merch_id = ${merchant.merch_id}
        and not exists (select from current_offer where offer_id = offer_words.offer_id)`)
    await db.run(sql`
      insert into offer_words_state (merch_id, generation)
      values (${merchant.merch_id}, ${merchant.generation})
      on conflict (merch_id) do update set generation = excluded.generation`)
  }
  if (changed.length > 0) await updateLexicon(db)
  return changed.length
}

/** In batches by offer: a first feed may have a million. */
async function addWords(db: Db, { merch_id, done }: ChangedMerchant): Promise<void> {
  let after = '0'
  for (;;) {
    const row = await db.row<{ last: string | null }>(sql`
      with batch as (
        select offer_id, merch_id, title, brand from current_offer
        where merch_id = ${merch_id} and offer_id > ${after} and from_generation > ${done}
        order by offer_id limit ${BATCH_OFFERS}
      ), written as (
        insert into offer_words (offer_id, merch_id, words)
        select offer_id, merch_id, to_tsvector('simple', concat_ws(' ', brand, title)) from batch
        on conflict (offer_id) do update set words = excluded.words
        where offer_words.words <> excluded.words
      )
      select max(offer_id) as last from batch`)
    if (row === null || row.last === null) return
    after = row.last
  }
}

/** The words that a misspelt one may mean. */
async function updateLexicon(db: Db): Promise<void> {
  if (!(await hasTrigrams(db))) return
  await db.transaction(async (tx) => {
    await tx.run(sql`delete from product_word`)
    await tx.run(sql`
      insert into product_word (word)
      select word from ts_stat('select words from offer_words')
      where length(word) between 3 and ${WORD_LENGTH_MAX} and word !~ '[0-9]'`)
  })
}

/** Whether the server can find the nearest word to a misspelt one. */
export async function hasTrigrams(db: Db): Promise<boolean> {
  const row = await db.row(sql`select from pg_extension where extname = 'pg_trgm'`)
  return row !== null
}
