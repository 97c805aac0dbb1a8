/** Uses of API keys from somewhere new become notices to the publishers they open. */
import { KeyPlaces } from './accounts/key-places.ts'
import type { OnKeyUsed } from './accounts/require-key.ts'
import type { Node } from './node.ts'
import { formatTimestamp } from './platform/timestamp.ts'
import { queueNotices } from './reports/webhook-store.ts'

/** Tells the publishers of a key when it is used from a network it never was used from. */
export function noteKeyPlace({ database, log }: Pick<Node, 'database' | 'log'>): OnKeyUsed {
  const places = new KeyPlaces(database)
  return ({ tokenId, pubIds, record }, { key, address, at }) => {
    const note = async () => {
      if (!(await places.isNew({ tokenId, key, address, now: at }))) return
      const payload = {
        token_id: tokenId,
        description: record.description,
        used_at: formatTimestamp(at),
      }
      const event = 'key.used_from_new_place' as const
      const notices = pubIds.map((pubId) => ({
        event,
        key: `key:${tokenId}:${at.getTime()}`,
        pubId,
        merchId: null,
        payload,
      }))
      await queueNotices(database, notices, at)
    }
    void note().catch((error) => log.warn({ err: error }, 'where a key was used was not noted'))
  }
}
