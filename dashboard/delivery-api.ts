/** The API calls on deliveries of report files to a publisher's storage. */
import type { Static } from 'typebox'
import type {
  DeliveryChange,
  DeliveryRecord,
  NewDelivery,
} from '../src/reports/delivery-operations.ts'
import { everything, post, send } from './api.ts'
import { remove } from './people-api.ts'

export type Delivery = Static<typeof DeliveryRecord>

const of = (pubId: number): string => `/api/v1/publishers/${pubId}/report_deliveries/`
const one = ({ pub_id: pubId, delivery_id: id }: Delivery): string => `${of(pubId)}${id}/`

export const deliveries = {
  list: (pubId: number) => everything<Delivery>(of(pubId)),
  create: (pubId: number, body: Static<typeof NewDelivery>) => post<Delivery>(of(pubId), body),
  change: (delivery: Delivery, body: Static<typeof DeliveryChange>) =>
    send<Delivery>(one(delivery), 'PATCH', body),
  run: (delivery: Delivery) => post<Delivery>(`${one(delivery)}run/`, {}),
  remove: (delivery: Delivery) => remove(one(delivery)),
}
