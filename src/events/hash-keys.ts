/**
 * Keyed hashes that stand for sessions, visitors and addresses in the log.
 *
 * Equal values stay equal, and nobody can be looked up: each key serves one period, is shared by
 * all nodes through the database, and is then deleted. The next period's key is fetched ahead, so a
 * period may start while the database is down. Beyond that, after days without it or a clock jump,
 * a node uses a private key, because no reader may be stranded for lack of a hash (I5).
 */
import { randomBytes, hash as sha } from 'node:crypto'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'

export type HashPurpose = 'session' | 'visitor' | 'address'

const PERIOD_MS: Record<HashPurpose, number> = {
  session: 30 * DAY_MS,
  visitor: 30 * DAY_MS,
  address: 2 * DAY_MS,
}
const PURPOSES = Object.keys(PERIOD_MS) as HashPurpose[]
const KEY_BYTES = 32
const HASH_BYTES = 16
/** A request that started just before its period ended may still need a hash. */
const UNDER_WAY_MS = 60_000
export const HASH_KEYS_REFRESH_MS = HOUR_MS

export class HashKeys {
  /** As hex, so that a value can be appended. */
  #keys = new Map<string, string>()
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Fetches the keys of this period and the next; creates missing ones. */
  async refresh(nowMs: number): Promise<void> {
    const wanted = PURPOSES.flatMap((purpose) => {
      const epoch = epochOf(purpose, nowMs)
      return [epoch, epoch + 1].map((number) => ({ purpose, epoch: number }))
    })
    const purposes = wanted.map((item) => item.purpose)
    const epochs = wanted.map((item) => item.epoch)
    // Keys that this node has already used come first, so that its hashes stay comparable.
    const keys = wanted.map(({ purpose, epoch }) => {
      const used = this.#keys.get(`${purpose}${epoch}`)
      return used === undefined ? randomBytes(KEY_BYTES) : Buffer.from(used, 'hex')
    })
    const oldest = purposes.map((purpose) => epochOf(purpose, nowMs - UNDER_WAY_MS))
    await this.#db.run(sql`
      insert into hash_key (purpose, epoch, key)
      select * from unnest(${purposes}::text[], ${epochs}::int[], ${keys}::bytea[])
      on conflict do nothing`)
    const rows = await this.#db.rows<{ purpose: string; epoch: number; key: Buffer }>(sql`
      select purpose, epoch, key from hash_key
      where exists (
        select from unnest(${purposes}::text[], ${oldest}::int[]) as of (name, oldest)
        where name = purpose and epoch >= oldest)`)
    // Only these: deleted keys must not stay in the memory of a running process.
    this.#keys = new Map(
      rows.map(({ purpose, epoch, key }) => [`${purpose}${epoch}`, key.toString('hex')]),
    )
  }

  /** Deletes the keys of periods that have ended. */
  async forget(nowMs: number): Promise<void> {
    for (const purpose of PURPOSES) {
      await this.#db.run(sql`
        delete from hash_key where purpose = ${purpose} and epoch < ${epochOf(purpose, nowMs)}`)
    }
  }

  hash(purpose: HashPurpose, value: string, nowMs: number): Buffer {
    const name = `${purpose}${epochOf(purpose, nowMs)}`
    const key = this.#keys.get(name) ?? this.#makeOwn(name)
    // One call costs a quarter of an Hmac object and is as safe here: the key's length is fixed,
    // and a truncated hash cannot be extended. As latin1 text it takes half the time of a buffer.
    return Buffer.from(sha('sha256', key + value, 'latin1').slice(0, HASH_BYTES), 'latin1')
  }

  /** The next refresh offers it to all nodes. */
  #makeOwn(name: string): string {
    const key = randomBytes(KEY_BYTES).toString('hex')
    this.#keys.set(name, key)
    return key
  }
}

function epochOf(purpose: HashPurpose, nowMs: number): number {
  return Math.floor(nowMs / PERIOD_MS[purpose])
}
