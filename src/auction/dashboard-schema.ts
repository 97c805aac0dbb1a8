/** Wire shape of the dashboard's page on auctions without a winner. */
import Type, { type Static } from 'typebox'
import { NoFillReason } from './result-schema.ts'

export type NoFill = Static<typeof NoFill>
export const NoFill = Type.Object({
  held: Type.Integer({ description: 'Auctions of the day with a stored receipt' }),
  auctions: Type.Integer({ description: 'Those looked at: all, or of very many an even sample' }),
  unfilled: Type.Integer({ description: 'Of those looked at, the ones without a winner' }),
  unfilled_clicks: Type.Integer({ description: 'That these had, all unpaid' }),
  is_complete: Type.Boolean({
    description: 'False: receipts of the day that nobody clicked are dropped, or may be',
  }),
  reasons: Type.Array(NoFillReason, { description: 'As no_fill/ ranks them' }),
})
