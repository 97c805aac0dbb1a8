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
      // `cids`, comma-separated, is the other way in which the service takes them.
      click_ids: order.click_ids || (order.cids ? `${order.cids}`.split(',') : click_ids),
      // True, false or not known: what a 1 means only the shop knows.
      is_new_customer: typeof is_new_customer === 'boolean' ? is_new_customer : null,
    },
    products: read,
  }
}

/** What is sent otherwise than a shop's developer may have meant it, a sentence each. */
export const findChanges = (input: OrderInput, { order, products }: CheckoutEvent): string[] => [
  ...changes('order', input.order || input, order),
  ...products.flatMap((sent, at) =>
    changes(`products[${at}]`, { quantity: 1, ...input.products?.[at] }, sent),
  ),
]

const changes = (path: string, told: Fields, sent: Fields): string[] =>
  ['id', 'value', 'price', 'quantity'].flatMap((name) => {
    const [before, after] = [`${told[name]}`, `${sent[name]}`]
    return before === after || parseFloat(before) === parseFloat(after)
      ? []
      : `${path}.${name}: ${before} is sent as ${after}`
  })

/**
 * Prices and quantities only divide the order's value among its products: one that the service
 * would refuse is worth no order. An order has one currency, which its products need not name.
 */
const readProduct = (told: Fields, at: number, decimals: number): Fields => {
  const { currency: _, ...product } = told
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

/** A product without an id goes by its name, or its place: neither is worth losing an order. */
const idOf = ({ id, name }: Fields, at: number): string =>
  `${isEmpty(id) ? (isEmpty(name) ? at + 1 : name) : id}`.slice(0, ID_LENGTH)

const isEmpty = (value: unknown): boolean => value == null || value === ''

/**
 * Those that shops print: never more than the service takes, whose table of ISO 4217 is too long
 * for every page of a shop. What is no currency it refuses by name.
 */
const decimalsOf = (currency: string): number => {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    return format.resolvedOptions().maximumFractionDigits as number
  } catch {
    return 2
  }
}
