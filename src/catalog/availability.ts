/**
 * Is a listing in stock, by what its feed says?
 *
 * Spellings differ only in case, spaces, underscores and schema.org addresses. What can be bought
 * and shipped now is in stock; a pre-order or a back-order is not, and neither is a word that
 * nobody knows: a reader must never be sent to what may not be there.
 */

const IN_STOCK: ReadonlySet<string> = new Set([
  'instock',
  'instoreonly',
  'onlineonly',
  'limitedavailability',
  'limitedstock',
  'lowstock',
  'available',
  'availablefororder',
  'yes',
  'y',
  'true',
])

const OUT_OF_STOCK: ReadonlySet<string> = new Set([
  'outofstock',
  'preorder',
  'presale',
  'backorder',
  'madetoorder',
  'soldout',
  'discontinued',
  'reserved',
  'unavailable',
  'notavailable',
  'no',
  'n',
  'false',
])

/**
 * True or false when the text says so; null when nobody knows the word.
 *
 * An empty cell is in stock: the merchant lists the product and says nothing against it.
 */
export function readAvailability(written: string): boolean | null {
  const word = written
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\/schema\.org\//, '')
    .replace(/[\s_-]+/g, '')
  if (word === '' || IN_STOCK.has(word)) return true
  if (/^\d+$/.test(word)) return Number(word) > 0 // A column that counts what is left.
  return OUT_OF_STOCK.has(word) ? false : null
}
