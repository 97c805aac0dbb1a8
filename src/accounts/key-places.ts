/**
 * From where is a key used? Its owner may want to know when that is somewhere new.
 *
 * A place is the caller's network (IPv4 /24, IPv6 /48), kept only as a hash that the key itself
 * makes: without the key, which is never stored, nobody can tell which network it was.
 */
import { createHmac } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Db } from '../platform/postgres.ts'
import { insertKeyPlace } from './store.ts'

const IPV4_PREFIX = 24
const IPV6_PREFIX = 48
/** Places seen lately, so that a busy key costs no query a call. */
const PLACES_MAX = 100_000

export interface KeyUse {
  readonly tokenId: number
  readonly key: string
  readonly address: string
}

export class KeyPlaces {
  readonly #seen = new LRUCache<string, true>({ max: PLACES_MAX })
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Tells of a key that was used before, but never from this network. In the transaction that notes
   * the network: what could not be told is new at the next use.
   */
  async note({ tokenId, key, address }: KeyUse, tell: (tx: Db) => Promise<unknown>): Promise<void> {
    const place = createHmac('sha256', key).update(networkOf(address)).digest()
    const id = `${tokenId} ${place.toString('base64')}`
    if (this.#seen.has(id)) return
    await this.#db.transaction(async (tx) => {
      const { isNew, isFirst } = await insertKeyPlace(tx, { tokenId, place })
      if (isNew && !isFirst) await tell(tx)
    })
    this.#seen.set(id, true)
  }
}

/** The network of an address; text that is none stands for itself. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? IPV4_PREFIX : IPV6_PREFIX
  return parsed
    .toByteArray()
    .slice(0, bits / 8)
    .join('.')
}
