/** An order by its merchant's name and number; each has a direction of its own. */
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
