/** `souk check-page URL`: the page tag's view of a page, and the earnings of a click. */

import { resolve } from 'node:path'
import { listPublishers } from '../accounts/publisher-store.ts'
import { Sealer } from '../auction/seal.ts'
import { type CheckPageResult, checkPage, photographTo } from '../check-page/check-page.ts'
import { earningsUnder } from '../check-page/earnings.ts'
import { findChromium } from '../check-page/find-chromium.ts'
import { ownSealingKeys } from '../node/sealing-keys.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'
import { buildBrowserParts } from '../server/browser-parts.ts'
import type { CommandContext } from './command.ts'

interface CheckPageCommandOptions {
  readonly argument: string
  readonly publisher?: string
  readonly out?: string
  readonly chromium?: string
}

export async function checkPageCommand(
  context: CommandContext,
  options: CheckPageCommandOptions,
): Promise<CheckPageResult> {
  const url = parseWebUrl(options.argument)
  if (url === null) {
    throw badRequest([{ field: 'url', rule: 'must be an absolute http(s) address' }])
  }
  const { config } = context
  await buildBrowserParts({ isOnlyIfStale: true })
  const keys = await ownSealingKeys(config)
  const publisher = options.publisher ?? (await publisherOf(context, siteHost(url)))
  context.progress(`Loading ${url.href} …`)
  return checkPage({
    url: url.href,
    publisher,
    baseUrl: config.baseUrl,
    chromium: options.chromium ?? findChromium(),
    photograph: photographTo(
      resolve(options.out ?? `souk-check-page-${context.now().getTime()}.png`),
    ),
    earningsOf: earningsUnder(new Sealer(keys), { brand: config.brand }),
  })
}

/** The publisher that owns the host. */
async function publisherOf(context: CommandContext, host: string): Promise<string | null> {
  const publishers = await listPublishers(await context.database(), { uid: null })
  const owner = publishers.find(({ domains }) => domains.some((own) => isOnDomain(host, own)))
  return owner?.slug ?? null
}
