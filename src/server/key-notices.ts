/** Notifies publishers and merchants when one of their API keys is used from a new network. */
import { KeyPlaces } from '../accounts/key-places.ts'
import type { OnKeyUsed } from '../accounts/require-key.ts'
import { listMerchantIdsOf } from '../catalog/merchant-store.ts'
import type { Node } from '../node/node.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { type Notice, queueNotices } from '../webhooks/webhook-store.ts'

/** Notifies the owners of a key when it is used from a network that is new for it. */
export function noteKeyPlace({ database, log }: Pick<Node, 'database' | 'log'>): OnKeyUsed {
  const places = new KeyPlaces(database)
  return ({ tokenId, uid, pubIds, record }, { key, address, at }) => {
    const tell = async (tx: Db) => {
      const payload = {
        token_id: tokenId,
        description: record.description,
        used_at: formatTimestamp(at),
      }
      const notice = {
        event: 'key.used_from_new_place' as const,
        key: `key:${tokenId}:${at.getTime()}`,
        payload,
      }
      const merchIds = await listMerchantIdsOf(tx, uid)
      const notices: Notice[] = [
        ...pubIds.map((pubId) => ({ ...notice, pubId, merchId: null })),
        ...merchIds.map((merchId) => ({ ...notice, pubId: null, merchId })),
      ]
      await queueNotices(tx, notices, at)
    }
    places
      .note({ tokenId, key, address }, tell)
      .catch((error) => log.warn({ err: error }, 'where a key was used was not noted'))
  }
}
