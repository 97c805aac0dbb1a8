/** Serves the documentation site, which the build writes into one folder. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import { type CompressedDocument, compressDocument, sendCompressed } from './compressed-document.ts'
import { type OwnNames, withOwnNames } from './own-names.ts'

const INDEX = 'search.json'
/** Pages name the index by its content, so an index that is served never changes. */
const INDEX_SECONDS = 86_400

export const documentationRoutes =
  (folder: string, names: OwnNames): FastifyPluginAsync =>
  async (app) => {
    const hidden = { schema: { hide: true } } as const
    const read = documentReader(folder, names)
    app.get(`/docs/${INDEX}`, hidden, async (request, reply) => {
      const index = read(INDEX)
      if (index === null) return reply.callNotFound()
      reply
        .header('cache-control', `public, max-age=${INDEX_SECONDS}`)
        .header('content-type', 'application/json; charset=utf-8')
      return sendCompressed(request, reply, index)
    })
    for (const path of ['/docs', '/docs/*']) {
      app.get<{ Params: { '*'?: string } }>(path, hidden, async (request, reply) => {
        const name = request.params['*']?.replace(/\/$/, '') ?? ''
        const page = read(`${name === '' ? 'start' : name}.html`)
        if (page === null) return reply.callNotFound()
        reply.header('cache-control', 'no-cache').header('content-type', 'text/html; charset=utf-8')
        return sendCompressed(request, reply, page)
      })
    }
  }

/** The names of built files: nothing leads out of the folder. */
const FILE_NAME = /^[\w-]+(?:\/[\w-]+)*\.(?:html|json)$/

interface CachedDocument {
  readonly document: CompressedDocument
  readonly builtMs: number
}

/**
 * Reads a file when it is first asked for, because most nodes serve few of them, and again after
 * another build.
 */
function documentReader(
  folder: string,
  names: OwnNames,
): (name: string) => CompressedDocument | null {
  const documents = new Map<string, CachedDocument>()
  return (name) => {
    if (!FILE_NAME.test(name)) return null
    const file = join(folder, name)
    const builtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (builtMs === undefined) return null
    const kept = documents.get(name)
    if (kept?.builtMs === builtMs) return kept.document
    const document = compressDocument(withOwnNames(readFileSync(file, 'utf8'), names))
    documents.set(name, { document, builtMs })
    return document
  }
}
