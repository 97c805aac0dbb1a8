/** Notifies publishers and merchants when one of their API keys is used from a new network. */
import { ownIds } from '../accounts/caller.ts'
import { KeyPlaces } from '../accounts/key-places.ts'
import type { OnKeyUsed } from '../accounts/require-key.ts'
import type { Node } from '../node/node.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { addAlertEvents } from '../webhooks/alert-store.ts'
import { type Notice, queueNotices } from '../webhooks/webhook-store.ts'

/** Notifies the owners of a key when it is used from a network that is new for it. */
export function noteKeyPlace({ database, log }: Pick<Node, 'database' | 'log'>): OnKeyUsed {
  const places = new KeyPlaces(database)
  return (holder, { key, address, at }) => {
    const { record } = holder
    const { token_id: tokenId } = record
    const queueNotice = async (tx: Db) => {
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
      const notices: Notice[] = [
        ...ownIds(holder, 'publisher').map((pubId) => ({ ...notice, pubId, merchId: null })),
        ...ownIds(holder, 'merchant').map((merchId) => ({ ...notice, pubId: null, merchId })),
      ]
      await queueNotices(tx, notices, at)
      const line = `The key “${record.description}” was used from a network that is new for it.`
      const event = { kind: 'key_from_new_place', key: `key:${tokenId}`, line } as const
      await addAlertEvents(tx, { pubIds: ownIds(holder, 'publisher'), event, at })
    }
    places
      .note({ tokenId, key, address }, queueNotice)
      .catch((error) => log.warn({ err: error }, 'where a key was used was not noted'))
  }
}
