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

const COUNT = /^-?\d+(?:\.\d+)?$/
const SCHEMA_ORG = /^(?:https?:\/\/)?(?:www\.)?schema\.org\//

/**
 * True or false when the text says so; null when nobody knows the word.
 *
 * An empty cell is in stock: the merchant lists the product and says nothing against it.
 */
export function readAvailability(written: string): boolean | null {
  const text = written.trim().toLowerCase()
  // A column that counts what is left; shops that sell more than they have count below zero.
  if (COUNT.test(text)) return Number(text) > 0
  const word = text.replace(SCHEMA_ORG, '').replace(/[\s_-]+/g, '')
  if (word === '' || IN_STOCK.has(word)) return true
  return OUT_OF_STOCK.has(word) ? false : null
}
