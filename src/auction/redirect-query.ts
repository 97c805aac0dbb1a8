/** Writes and reads the five parameters of redirect and pixel URLs. */
import { readReaderQuery } from '../platform/net/reader-query.ts'
import type { SealBinding } from './seal.ts'

/** `id` is the sealed result, which binds the others. */
export function redirectQuery(brand: string, id: string, binding: SealBinding): string {
  const { auctionId, uidService, url, uuid } = binding
  const encoded = encodeURIComponent(url.toWellFormed())
  return `a=${auctionId}&uid_${brand}=${uidService}&ar=${id}&url=${encoded}&uuid=${uuid}`
}

/**
 * `words`: every brand word of this deployment. A missing parameter is empty, which no seal binds.
 */
export function readRedirectQuery(
  text: string,
  words: readonly string[],
): { readonly id: string; readonly binding: SealBinding } {
  const query = readReaderQuery(text)
  const uids = words.map((word) => query.get(`uid_${word}`))
  return {
    id: query.get('ar') ?? '',
    binding: {
      auctionId: query.get('a') ?? '',
      uidService: uids.find((uid) => uid !== null) ?? '',
      url: query.get('url') ?? '',
      uuid: query.get('uuid') ?? '',
    },
  }
}
