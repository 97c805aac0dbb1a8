/** Serves files: the tags, the dashboard, the documentation and the API description. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { type CompressedDocument, compressDocument, sendCompressed } from './compressed-document.ts'
import { documentationRoutes } from './documentation-routes.ts'
import { addressesOf, inBrand, type OwnNames } from './own-names.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const YEAR_SECONDS = 31_536_000
/** Tags change with a release, and pages load a new one within the hour. */
const TAG_SECONDS = 3_600

interface TagManifest {
  readonly [name: string]: { readonly file: string; readonly immutable_file: string }
}

export const staticRoutes =
  (config: OwnNames): FastifyPluginAsync =>
  async (app) => {
    const hidden = { schema: { hide: true }, config: { cors: 'files' } } as const
    const tags = readTags()
    app.get<{ Params: { file: string } }>('/tag/:file', hidden, async (request, reply) => {
      const tag = tags.get(request.params.file)
      if (tag === undefined) return reply.callNotFound()
      reply
        .header('content-type', tag.type)
        .header('cache-control', `public, max-age=${tag.maxAge}${tag.isFixed ? ', immutable' : ''}`)
        .header('cross-origin-resource-policy', 'cross-origin')
      return sendCompressed(request, reply, tag)
    })
    const openapi = compressDocument(readDescription(config))
    app.get('/openapi.json', hidden, async (request, reply) =>
      sendCompressed(
        request,
        reply.header('content-type', 'application/json; charset=utf-8'),
        openapi,
      ),
    )
  }

/**
 * The dashboard shows the pictures of products, which merchants' servers have. The demo's pictures
 * are on this machine, below `localhost`.
 */
const PICTURES = "img-src 'self' https:"
const DEMO_PICTURES = `${PICTURES} http://*.localhost:*`

/**
 * Our pages cannot be framed, and load nothing from other hosts, except pictures in the dashboard.
 * Built pages contain no inline script and no inline style, so the policy needs no other exception.
 * Strict-Transport-Security is up to the operator's proxy.
 */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
]
const PAGE_HEADERS = {
  'content-security-policy': POLICY.join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The dashboard and the documentation, on nodes that serve the base URL. */
export const pageRoutes =
  (config: OwnNames & { readonly allowPrivateFetch: boolean }): FastifyPluginAsync =>
  async (app) => {
    const hidden = { schema: { hide: true } } as const
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers(PAGE_HEADERS)
    })
    await app.register(fastifyStatic, { root: ROOT, serve: false, preCompressed: true })
    const built = `${ROOT}dist/dashboard`
    const policy = [...POLICY, config.allowPrivateFetch ? DEMO_PICTURES : PICTURES].join('; ')
    const page = (reply: FastifyReply, file: string) =>
      reply
        .headers({ 'cache-control': 'no-cache', 'content-security-policy': policy })
        .sendFile(file, built, { cacheControl: false })
    app.get('/', hidden, async (_request, reply) => reply.redirect('/dashboard/'))
    await app.register(documentationRoutes(`${built}/docs`, config))
    app.get('/dashboard', hidden, async (_request, reply) => page(reply, 'index.html'))
    app.get<{ Params: { '*': string } }>('/dashboard/*', hidden, async (request, reply) => {
      const path = request.params['*']
      // An unknown call gets an error, not a page.
      if (path.startsWith('api/')) return reply.callNotFound()
      if (!path.startsWith('assets/')) return page(reply, 'index.html')
      // These names contain a content hash. The header is set with the file only, so that a missing
      // file is not cached for a year.
      return reply.sendFile(path, built, { maxAge: YEAR_SECONDS * 1_000, immutable: true })
    })
  }

/** The API description with this service's URLs. */
function readDescription(config: OwnNames): string {
  const addresses = addressesOf(config)
  const text = inBrand(readFileSync(`${ROOT}openapi.json`, 'utf8'), config.brand)
  const api = JSON.parse(text, (key, value) =>
    key === 'servers' ? [{ url: addresses[value[0].url] }] : value,
  )
  return JSON.stringify(api, null, 2)
}

interface Tag extends CompressedDocument {
  readonly type: string
  readonly maxAge: number
  readonly isFixed: boolean
}

/** The built tags by file name: the stable names, and those with a content hash. */
function readTags(): Map<string, Tag> {
  const folder = `${ROOT}dist/tag/`
  const tags = new Map<string, Tag>()
  if (!existsSync(`${folder}manifest.json`)) return tags
  const text = readFileSync(`${folder}manifest.json`)
  const type = 'text/javascript; charset=utf-8'
  for (const { file, immutable_file } of Object.values(JSON.parse(`${text}`) as TagManifest)) {
    const body = readFileSync(folder + file)
    const tag = { ...compressDocument(body), type }
    tags.set(file, { ...tag, maxAge: TAG_SECONDS, isFixed: false })
    tags.set(immutable_file, { ...tag, maxAge: YEAR_SECONDS, isFixed: true })
  }
  const json = 'application/json; charset=utf-8'
  const manifest = { ...compressDocument(text), type: json, maxAge: TAG_SECONDS }
  tags.set('manifest.json', { ...manifest, isFixed: false })
  return tags
}
