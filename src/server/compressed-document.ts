/** A document that is served compressed, whatever proxy is in front of this service. */
import { gzipSync } from 'node:zlib'

/** All browsers; `gzip;q=0` refuses it. */
const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

export interface CompressedDocument {
  readonly body: string | Buffer
  readonly packed: Buffer
}

export function compressDocument(body: string | Buffer): CompressedDocument {
  return { body, packed: gzipSync(body, { level: 9 }) }
}

/** The part of a reply that is written; any Fastify reply has it. */
interface PackedReply {
  header(name: string, value: string): this
  send(body: string | Buffer): this
}

export function sendCompressed<Reply extends PackedReply>(
  request: { readonly headers: Readonly<Record<string, string | string[] | undefined>> },
  reply: Reply,
  { body, packed }: CompressedDocument,
): Reply {
  reply.header('vary', 'Accept-Encoding')
  if (!TAKES_GZIP.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(packed)
}
