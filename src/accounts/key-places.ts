/**
 * Detects API key use from a new place, so that the owner can be notified.
 *
 * A place is the client's network (IPv4 /24, IPv6 /48). It is stored only as a hash keyed by the
 * API key itself, which is never stored, so nobody can read the network from the database.
 */
import { createHmac } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import type { Db } from '../platform/postgres/postgres.ts'
import { insertKeyPlace } from './store.ts'

const IPV4_PREFIX = 24
const IPV6_PREFIX = 48
/** Recent places, so that a busy key costs no query per call. */
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
   * Reports a key that was used before, but never from this network. The report commits together
   * with the network, so a failed report is repeated at the next use.
   */
  async note(
    { tokenId, key, address }: KeyUse,
    onNewPlace: (tx: Db) => Promise<unknown>,
  ): Promise<void> {
    const place = createHmac('sha256', key).update(networkOf(address)).digest()
    const id = `${tokenId} ${place.toString('base64')}`
    if (this.#seen.has(id)) return
    await this.#db.transaction(async (tx) => {
      const { isNew, isFirst } = await insertKeyPlace(tx, { tokenId, place })
      if (isNew && !isFirst) await onNewPlace(tx)
    })
    this.#seen.set(id, true)
  }
}

/** The network of an address; any other text stands for itself. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? IPV4_PREFIX : IPV6_PREFIX
  return parsed
    .toByteArray()
    .slice(0, bits / 8)
    .join('.')
}
