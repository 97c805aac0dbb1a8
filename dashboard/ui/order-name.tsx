/** An order by merchant name and number, each in its own writing direction. */
export function OrderName(order: {
  readonly merchant_name: string | null
  readonly checkout_id: string
}) {
  return (
    <>
      <bdi>{order.merchant_name ?? 'A merchant'}</bdi>, order <bdi>{order.checkout_id}</bdi>
    </>
  )
}
