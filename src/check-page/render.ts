/** The result of a page check as text for a person. */
import type { CheckedLink, CheckPageResult } from './check-page.ts'

const MARKS = { auctioned: '+', waiting: '?', left: ' ' } as const

export function renderCheckPage(result: CheckPageResult): string {
  const { links, auctioned, waiting, left } = result.totals
  const tag = result.tag === 'on_page' ? 'is on the page' : 'was put in for this check'
  const noun = links === 1 ? 'link' : 'links'
  const lines = [
    result.url,
    `Publisher ${result.publisher}${membership(result.is_member)}` +
      `; the tag ${tag} (${result.service})`,
    `${links} ${noun}: ${auctioned} auctioned, ${waiting} waiting, ${left} left alone` +
      (result.trackers === 0 ? '' : `; ${result.trackers} third-party trackers`),
    '',
    ...section('What blocks it', result.blocked),
    ...section(
      'Other link tags on the page: exclude our hosts in their settings',
      result.other_tags,
    ),
    ...section('Errors on the page', result.page_errors),
    ...result.links.flatMap(renderLink),
  ]
  if (result.screenshot !== null) lines.push('', `Picture: ${result.screenshot}`)
  return lines.join('\n')
}

function membership(isMember: boolean | null): string {
  if (isMember === null) return ''
  return isMember ? ', in the partner program' : ', not in the partner program'
}

function section(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  - ${item}`), '']
}

function renderLink(link: CheckedLink): string[] {
  const earns = link.earns === null ? '' : `  $${link.earns} a click`
  const product = [link.product, link.price && `$${link.price}`, link.merchant]
  return [
    `${MARKS[link.status]} ${link.text || '(no text)'}${earns}`,
    `    ${link.url}`,
    `    ${link.why}`,
    ...(link.product === null ? [] : [`    ${product.filter(Boolean).join(', ')}`]),
  ]
}
