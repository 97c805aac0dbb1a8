/**
 * Which variant of product matching a request is, or why it is neither:
 * docs/spec/interface.md#match-products.
 *
 * Variant B (all merchants that sell the product, article known) is open to every account. Anything
 * else is variant A, for members of the partner program.
 */

import type { Fault } from '../platform/errors/api-errors.ts'
import { characterCount } from '../platform/text/characters.ts'
import type { MatchQuery } from './schema.ts'

const GTIN_MAX_B = 14
const SKU_MAX_A = 50
const SKU_MAX_B = 255

/** A query in which any field may be invalid. */
type LooseQuery = Partial<Record<keyof MatchQuery, unknown>>

/** Whether the query is variant B. Any other valid query is variant A. */
export function isVariantB({ gtin, sku, article_url, article_name }: LooseQuery): boolean {
  const hasArticle = article_url !== undefined && article_name !== undefined
  const isShort = lengthOf(gtin) <= GTIN_MAX_B && lengthOf(sku) <= SKU_MAX_B
  return (gtin ?? sku) !== undefined && hasArticle && isShort
}

/** Why a query is neither variant, in addition to faults of single fields. */
export function matchFaults(query: LooseQuery): Fault[] {
  const { gtin, sku, product_url } = query
  if ((gtin ?? sku ?? product_url) === undefined) {
    const rule = 'at least one of gtin, sku and product_url is required'
    return [{ field: 'gtin', rule }]
  }
  // The schema limits gtin to variant A's 50 characters. A sku over 50 is only valid in variant B.
  return isVariantB(query) || lengthOf(sku) <= SKU_MAX_A ? [] : [longSkuFault(query)]
}

function longSkuFault({ article_url, article_name }: LooseQuery): Fault {
  const missing = [
    article_url === undefined ? 'article_url' : null,
    article_name === undefined ? 'article_name' : null,
  ].filter((name) => name !== null)
  const why =
    missing.length > 0
      ? `without ${missing.join(' and ')}`
      : `beside a gtin of more than ${GTIN_MAX_B}`
  return { field: 'sku', rule: `must have at most ${SKU_MAX_A} characters ${why}` }
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? characterCount(text) : 0
}
