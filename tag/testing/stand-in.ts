/**
 * A server that misbehaves on purpose: the one thing the real service cannot be asked to do.
 *
 * It serves an article with the page tag and answers the tag's calls as a working service would,
 * except those that a test replaces. Working answers are tested against the real service.
 */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBrowserParts } from '../../src/server/browser-parts.ts'

export type Call = 'config' | 'linkmate' | 'auction' | 'events' | 'pixel'

export interface Answer {
  readonly status?: number
  readonly body?: string
  readonly delayMs?: number
  /** The connection breaks instead. */
  readonly isCut?: boolean
  /** No answer comes for as long as the client waits. */
  readonly isSilent?: boolean
}

export interface StandInOptions {
  readonly article: string
  readonly headers?: Record<string, string>
  readonly answers?: Partial<Record<Call, Answer>>
}

export interface SeenCall {
  readonly call: Call
  readonly url: string
  readonly body: string
}

export interface StandIn {
  readonly origin: string
  readonly articleUrl: string
  readonly calls: SeenCall[]
  /** The largest number of calls that were open at one time. */
  openAtOnceMax: number
}

const TAGS = join(import.meta.dirname, '../../dist/tag')

/** Starts one for a test; `{link}` in the article stands for the address of smart links. */
export async function startStandIn(
  t: { after(fn: () => void): void },
  options: StandInOptions,
): Promise<StandIn> {
  await buildBrowserParts({ isOnlyIfStale: true })
  let open = 0
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  const standIn: StandIn = { origin, articleUrl: `${origin}/article`, calls: [], openAtOnceMax: 0 }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? ''
    let body = ''
    for await (const chunk of request) body += chunk
    const call = callOf(url)
    if (call === null) return serveFile(url, response)
    standIn.calls.push({ call, url, body })
    open++
    standIn.openAtOnceMax = Math.max(standIn.openAtOnceMax, open)
    response.on('close', () => open--)
    const answer = options.answers?.[call] ?? {}
    if (answer.isCut) return void request.socket.destroy()
    if (answer.isSilent) return
    if (answer.delayMs) await sleep(answer.delayMs, undefined, { ref: false })
    response.writeHead(answer.status ?? (call === 'events' ? 201 : 200), {
      'content-type': 'application/json',
      'access-control-allow-origin': request.headers.origin ?? '*',
    })
    response.end(answer.body ?? goodAnswer(call, { url, body, origin }))
  }

  const serveFile = (url: string, response: ServerResponse): void => {
    const name = /^\/tag\/([\w.-]+\.js)$/.exec(url)?.[1]
    if (name !== undefined) {
      response.writeHead(200, {
        'content-type': 'text/javascript',
        'access-control-allow-origin': '*',
      })
      response.end(readFileSync(join(TAGS, name)))
    } else if (url.startsWith('/article')) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...options.headers })
      response.end(options.article.replaceAll('{link}', origin))
    } else response.writeHead(204).end()
  }
  return standIn
}

function callOf(url: string): Call | null {
  if (url.includes('/amp_config/')) return 'config'
  if (url.includes('/linkmate/')) return 'linkmate'
  if (url.includes('/api/v1/auction/')) return 'auction'
  if (url.includes('/api/v1/events/')) return 'events'
  return url.includes('/api/v1/pixel/') ? 'pixel' : null
}

function goodAnswer(
  call: Call,
  { url, body, origin }: { url: string; body: string; origin: string },
): string {
  if (call === 'config') {
    const page_tag = {
      ...{ auction_url: origin, link_url: origin, brand: 'service', domains: [] },
      merchants_version: '1',
    }
    return JSON.stringify({
      data: [{ amp_config: { publisher_id: 1, linkmate_enabled: true }, page_tag }],
    })
  }
  if (call === 'linkmate') {
    const { links } = JSON.parse(body) as { links: { raw_url: string }[] }
    const smart_links = links.map(({ raw_url }, index) => ({
      auction_id: String(9_100_000_000_000_000_000n + BigInt(index)),
      url: raw_url,
      is_monetizable: true,
    }))
    return JSON.stringify({ data: [{ smart_links }] })
  }
  if (call === 'auction') {
    const id = new URL(url, origin).searchParams.get('a')
    const auction_result = {
      id: `result-${id}`,
      auction_id: id,
      redirect_url: `${origin}/api/v1/redirect/?a=${id}`,
    }
    const impression_pixel_url = `${origin}/api/v1/pixel/?r=${id}`
    return JSON.stringify({ data: [{ auction_result, impression_pixel_url }] })
  }
  return ''
}
