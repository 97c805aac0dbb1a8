/** Checks of a publisher's own pages: ask for one, and read what it found. */
import Type from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { findPublisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { ApiError, badRequest, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { orNull, smallId, TextOrNull, Time, webUrl } from '../platform/http/field-types.ts'
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { TagCheckResult } from './tag-check.ts'
import {
  countLastDay,
  findTagCheck,
  insertTagCheck,
  type ListedCheck,
  listTagChecks,
  TAG_CHECK_STATES,
  type TagCheck,
} from './tag-check-store.ts'

/** Of a publisher in 24 hours: each takes the one browser of a worker for up to two minutes. */
const CHECKS_A_DAY = 50

const PATH = '/api/v1/publishers/:pub_id/tag_checks/'
/** The rights of the tag's status: a check changes nothing of the publisher's. */
const SPEC = { tag: 'publishers', permission: 'figures.read' } as const
export const TagCheckParams = Type.Object({ ...PublisherParams.properties, check_id: smallId })
export const TAG_CHECK_PATH = `${PATH}:check_id/`

const ListedRecord = Type.Object({
  check_id: Type.Integer(),
  pub_id: Type.Integer(),
  url: Type.String(),
  state: Type.Enum([...TAG_CHECK_STATES]),
  error: Type.Union(TextOrNull.anyOf, { description: 'Why it failed' }),
  screenshot_url: Type.Union(TextOrNull.anyOf, {
    description: 'A JPEG of the page with outlined links; null: none is stored',
  }),
  datetime_created: Time,
  datetime_updated: Time,
})
export const CheckRecord = Type.Object({
  ...ListedRecord.properties,
  result: orNull(TagCheckResult, 'Null until the check is done'),
})

const createTagCheck = action({
  ...SPEC,
  id: 'createTagCheck',
  method: 'POST',
  path: PATH,
  summary: 'Check a page of the publisher in a browser',
  description:
    'A worker loads the page as a reader’s browser does and reports what the page tag does with ' +
    'each link. Nothing counts as a visit. The page must be on a domain of the publisher. A ' +
    `publisher has one check at a time (409) and ${CHECKS_A_DAY} in 24 hours (429). Checks are ` +
    'deleted after seven days; the ten latest screenshots are stored.',
  status: 202,
  params: PublisherParams,
  body: Type.Object({ url: webUrl('A page on a domain of the publisher') }),
  entry: CheckRecord,
  run: async ({ db, params: { pub_id: pubId }, body, audit }) => {
    const publisher = await findPublisher(db, pubId)
    const url = parseWebUrl(body.url)
    if (publisher === null || url === null) throw notFound(`No publisher ${pubId}`)
    if (!isOwnPage(url, publisher.domains)) {
      throw badRequest([{ field: 'url', rule: ownPageRule(publisher.domains) }])
    }
    if ((await countLastDay(db, pubId)) >= CHECKS_A_DAY) throw tooManyChecks()
    const check = await insertTagCheck(db, { pubId, url: url.href })
    if (check === null) {
      throw wrongState({ field: 'url', rule: 'another check is running; wait until it has ended' })
    }
    const target = `tag_check:${check.check_id}`
    await audit({ action: 'tag_check.create', target, after: { url: url.href } })
    return [toRecord(check)]
  },
})

const listChecks = list({
  ...SPEC,
  id: 'listTagChecks',
  path: PATH,
  summary: 'List the checks of pages, the newest first',
  params: PublisherParams,
  entry: ListedRecord,
  run: async ({ db, params: { pub_id: pubId }, query }) => {
    const page = { pubId, before: cursorId(query), limit: query.limit + 1 }
    return pageOf(await listTagChecks(db, page), query.limit, {
      idOf: ({ check_id: id }) => id,
      toEntry: toListed,
    })
  },
})

const readTagCheck = action({
  ...SPEC,
  id: 'readTagCheck',
  method: 'GET',
  path: TAG_CHECK_PATH,
  summary: 'Read the state and the findings of a check',
  params: TagCheckParams,
  entry: CheckRecord,
  run: async ({ db, params: { pub_id: pubId, check_id: checkId } }) => {
    const check = await findTagCheck(db, { pubId, checkId })
    if (check === null) throw notFound(`No check ${checkId}`)
    return [toRecord(check)]
  },
})

export const tagCheckOperations: readonly Operation[] = [createTagCheck, listChecks, readTagCheck]

export function isOwnPage(url: URL, domains: readonly string[]): boolean {
  return domains.some((domain) => isOnDomain(siteHost(url), domain))
}

function ownPageRule(domains: readonly string[]): string {
  if (domains.length === 0) return 'needs a domain of yours: add it in the settings first'
  return `must be on a domain of yours: ${domains.join(', ')}`
}

function toListed({ datetime_created, datetime_updated, ...check }: ListedCheck) {
  const { check_id, pub_id, url, state, error, has_screenshot: hasScreenshot } = check
  const path = `/api/v1/publishers/${pub_id}/tag_checks/${check_id}/screenshot/`
  return {
    ...{ check_id, pub_id, url, state, error },
    screenshot_url: hasScreenshot ? path : null,
    datetime_created: formatTimestamp(datetime_created),
    datetime_updated: formatTimestamp(datetime_updated),
  }
}

const toRecord = (check: TagCheck) => ({ ...toListed(check), result: check.result })

function tooManyChecks(): ApiError {
  const limit = String(CHECKS_A_DAY)
  return new ApiError('rateLimited', {
    message: `At most ${limit} checks in 24 hours; try again later`,
    headers: {
      'retry-after': '3600',
      ...{ 'ratelimit-limit': limit, 'ratelimit-remaining': '0', 'ratelimit-reset': '3600' },
    },
  })
}
