/** `souk check-page URL`: the page tag's view of a page, and the earnings of a click. */

import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listPublishers } from '../accounts/publisher-store.ts'
import { readRedirectQuery } from '../auction/redirect-query.ts'
import { Sealer } from '../auction/seal.ts'
import { type CheckPageResult, checkPage } from '../check-page/check-page.ts'
import { findChromium } from '../check-page/find-chromium.ts'
import { ownSealingKeys } from '../node/sealing-keys.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { formatExact, publisherPart } from '../platform/money/money.ts'
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'
import { buildBrowserParts } from '../server/browser-parts.ts'
import type { CommandContext } from './command.ts'

const TAG_FOLDER = fileURLToPath(new URL('../../dist/tag/', import.meta.url))

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
    tagDir: TAG_FOLDER,
    chromium: options.chromium ?? findChromium(),
    screenshot: resolve(options.out ?? `souk-check-page-${context.now().getTime()}.png`),
    earningsOf: earningsUnder(new Sealer(keys), config.brand),
  })
}

/** The publisher that owns the host. */
async function publisherOf(context: CommandContext, host: string): Promise<string | null> {
  const publishers = await listPublishers(await context.database(), { uid: null })
  const owner = publishers.find(({ domains }) => domains.some((own) => isOnDomain(host, own)))
  return owner?.slug ?? null
}

/**
 * Opens the seal of a redirect URL: the publisher's share of the price of one click. For a campaign
 * that pays per order the seal holds its terms instead, which are no price of a click.
 */
export function earningsUnder(
  sealer: Sealer,
  brand: string,
): (redirectUrl: string) => string | null {
  return (redirectUrl) => {
    const { id, binding } = readRedirectQuery(new URL(redirectUrl).search, [brand])
    const result = sealer.open(id, binding)
    if (result?.terms.model !== 'cpc') return null
    return formatExact(publisherPart(result.terms.pricePerClickMicros, result.sharePpm))
  }
}
