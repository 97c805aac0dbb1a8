/**
 * An order as the service takes it (reports, Merchant checkout call).
 */

type Fields = Record<string, unknown>

/** What a shop hands over: as documented, or with the order's fields beside `products`. */
export interface OrderInput extends Fields {
  order?: Fields
  /** Null where a template writes what is not there. */
  products?: Fields[] | null
}

export interface CheckoutEvent {
  order: Fields & { id: string }
  products: Fields[]
}

const ID_LENGTH = 100 // What the service takes for a product.
/** Texts that only describe are cut to what the service takes: none is worth losing an order. */
const LENGTHS: Fields & Record<string, number> = {
  name: 255,
  brand: 100,
  image_url: 2048,
  size: 20,
  color: 20,
}

/** Throws a sentence for the shop's developer when something that must be there is not. */
export const readCheckout = (input: OrderInput, click_ids: string[]): CheckoutEvent => {
  const { products, order = input } = input
  const { is_new_customer } = order
  for (const name of ['id', 'value', 'currency']) {
    if (order[name] == null || order[name] === '') throw `order.${name} is missing`
  }
  return {
    order: {
      id: `${order.id}`,
      value: decimal(order.value),
      currency: `${order.currency}`.toUpperCase(),
      // `cids`, comma-separated, is the other way in which the service takes them.
      click_ids: order.click_ids || (order.cids ? `${order.cids}`.split(',') : click_ids),
      // True, false or not known: what a 1 means only the shop knows.
      is_new_customer: typeof is_new_customer === 'boolean' ? is_new_customer : null,
    },
    products: (products || []).map(readProduct),
  }
}

/** What a shop's developer should add to an order's products, a sentence each. */
export const findGaps = ({ products }: OrderInput): string[] =>
  (products || []).flatMap((product, at) =>
    ['id', 'price']
      .filter((name) => product[name] == null || product[name] === '')
      .map((name) => `products[${at}].${name} is missing`),
  )

const readProduct = (product: Fields, at: number): Fields => {
  const read: Fields = {
    ...product,
    id: idOf(product, at),
    price: decimal(product.price),
    quantity: Number(product.quantity || 1),
  }
  for (const name in LENGTHS) {
    if (read[name] != null) read[name] = `${read[name]}`.slice(0, LENGTHS[name])
  }
  return read
}

/** A product without an id goes by its name, or its place: neither is worth losing an order. */
const idOf = (product: Fields, at: number): string => {
  const named = [product.id, product.name].find((one) => one != null && one !== '')
  return `${named ?? at + 1}`.slice(0, ID_LENGTH)
}

/** Money is a decimal string on the wire; a number is written without its binary dust. */
const decimal = (value: unknown): unknown =>
  typeof value === 'number' ? `${+value.toFixed(4)}` : value
