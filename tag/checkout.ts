/**
 * Converts a shop's order into the body of the checkout call (POST
 * /api/v1/events/conversions/checkout/).
 */

type Fields = Record<string, unknown>

/** A shop's order: as documented, or with the order's fields beside `products`. */
export interface OrderInput extends Fields {
  order?: Fields
  /** Null when a shop's template prints null. */
  products?: Fields[] | null
}

export interface CheckoutEvent {
  order: Fields & { id: string }
  products: Fields[]
}

const ID_LENGTH = 100 // A product in the form that the service accepts.
/** Cuts descriptive texts to the service's limits, so that a long name does not lose the order. */
const LENGTHS: Fields & Record<string, number> = {
  name: 255,
  brand: 100,
  image_url: 2048,
  size: 20,
  color: 20,
}

/** Throws an error for the shop's developer when a required field is missing. */
export const readCheckout = (input: OrderInput, click_ids: string[]): CheckoutEvent => {
  const { products, order = input } = input
  const { is_new_customer } = order
  for (const name of ['id', 'value', 'currency']) {
    if (isEmpty(order[name])) throw `order.${name} is missing`
  }
  const currency = `${order.currency}`.toUpperCase()
  const decimals = decimalsOf(currency)
  const read: Fields[] = []
  for (const product of products || []) read.push(readProduct(product, read.length, decimals))
  return {
    order: {
      id: `${order.id}`,
      value: Number(order.value).toFixed(decimals),
      currency,
      // The service also accepts a comma-separated list, `cids`.
      click_ids: order.click_ids || (order.cids ? `${order.cids}`.split(',') : click_ids),
      // True, false or unknown: only the shop knows whether its 1 means true.
      is_new_customer: typeof is_new_customer === 'boolean' ? is_new_customer : null,
    },
    products: read,
  }
}

/** One sentence for each value that is sent in a corrected form, for test mode. */
export const findChanges = (input: OrderInput, { order, products }: CheckoutEvent): string[] => [
  ...changes('order', input.order || input, order),
  ...products.flatMap((sent, at) =>
    changes(`products[${at}]`, { quantity: 1, ...input.products?.[at] }, sent),
  ),
]

const changes = (path: string, given: Fields, sent: Fields): string[] =>
  ['id', 'value', 'price', 'quantity'].flatMap((name) => {
    const [before, after] = [`${given[name]}`, `${sent[name]}`]
    return before === after || parseFloat(before) === parseFloat(after)
      ? []
      : `${path}.${name}: ${before} is sent as ${after}`
  })

/**
 * Prices and quantities only divide the order's value among its products, so the tag corrects
 * invalid ones instead of losing the order. Products use the currency of their order.
 */
const readProduct = (given: Fields, at: number, decimals: number): Fields => {
  const { currency: _, ...product } = given
  const read: Fields = {
    ...product,
    id: idOf(product, at),
    price: Math.max(0, Number(product.price) || 0).toFixed(decimals),
    quantity: Math.max(1, Math.round(Number(product.quantity)) || 1),
  }
  for (const name of Object.keys(LENGTHS)) {
    if (read[name] != null) read[name] = `${read[name]}`.slice(0, LENGTHS[name])
  }
  return read
}

/** A product without an id is identified by its name, else by its position. */
const idOf = ({ id, name }: Fields, at: number): string =>
  `${isEmpty(id) ? (isEmpty(name) ? at + 1 : name) : id}`.slice(0, ID_LENGTH)

const isEmpty = (value: unknown): boolean => value == null || value === ''

/**
 * The decimals that shops print, never more than the service accepts. The full ISO 4217 table would
 * be too long for each page of a shop; the service rejects unknown currencies with an error that
 * names them.
 */
const decimalsOf = (currency: string): number => {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    return format.resolvedOptions().maximumFractionDigits as number
  } catch {
    return 2
  }
}
