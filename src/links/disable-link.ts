/** The operator disables a smart link; only a command does. */
import Type from 'typebox'
import { action } from '../accounts/operation.ts'
import { idText } from '../platform/http/field-types.ts'
import { disableLink } from './store.ts'

export const disableLinkByOperator = action({
  id: 'disableLink',
  tag: 'network',
  method: 'POST',
  path: '/api/v1/network/smart_links/:auction_id/disable/',
  summary: 'Disable a smart link',
  permission: 'network.write',
  params: Type.Object({ auction_id: idText() }),
  entry: Type.Object({ auction_id: Type.String(), state: Type.String() }),
  run: async ({ db, params, audit }) => {
    const link = await disableLink(db, params.auction_id)
    const target = `smart_link:${link.auction_id}`
    await audit({ action: 'smart_link.disable', target, after: link })
    return [link]
  },
})
