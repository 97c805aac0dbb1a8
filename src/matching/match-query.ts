/**
 * Which variant of 4.3 a request is, or why it is neither.
 *
 * Variant B (all merchants that sell the product, article known) is open to every account. All
 * else is variant A, for members of the partner program (decisions 4.3).
 */
import type { Fault } from '../platform/errors.ts'
import type { MatchQuery } from './schema.ts'

const GTIN_MAX_A = 50
const GTIN_MAX_B = 14
const SKU_MAX_A = 50
const SKU_MAX_B = 255

export type MatchVariant =
  | { readonly kind: 'A' | 'B' }
  | { readonly kind: 'neither'; readonly faults: readonly Fault[] }

export function variantOf(query: MatchQuery): MatchVariant {
  const { gtin, sku, product_url, article_url, article_name } = query
  const hasArticle = article_url !== undefined && article_name !== undefined
  const isShortB = lengthOf(gtin) <= GTIN_MAX_B && lengthOf(sku) <= SKU_MAX_B
  if ((gtin ?? sku) !== undefined && hasArticle && isShortB) return { kind: 'B' }
  if ((gtin ?? sku ?? product_url) === undefined) {
    const rule = 'at least one of gtin, sku and product_url is required'
    return { kind: 'neither', faults: [{ field: 'gtin', rule }] }
  }
  // The schema holds gtin to 50 characters already; a sku over 50 is variant B's alone.
  if (lengthOf(gtin) <= GTIN_MAX_A && lengthOf(sku) <= SKU_MAX_A) return { kind: 'A' }
  return { kind: 'neither', faults: [longSkuFault(query)] }
}

function longSkuFault({ article_url, article_name }: MatchQuery): Fault {
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

function lengthOf(text: string | undefined): number {
  return text?.length ?? 0
}
