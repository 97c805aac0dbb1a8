/** Finds of the command palette that need no call: pages and organizations of the user. */

import { type Membership, nameOf } from './membership.ts'
import { listPages, START } from './navigation.ts'
import { PATHS } from './paths.ts'

/** A line of the palette, and the page that it leads to. */
export interface Find {
  readonly key: string
  readonly label: string
  readonly note?: string
  readonly to: string
  readonly params?: Readonly<Record<string, string>>
  readonly search: Readonly<Record<string, unknown>>
}

export interface FindGroup {
  readonly value: string
  readonly items: Find[]
}

/** As many lines as a group shows; a longer text finds fewer. */
const FOUND_MAX = 8

/** Without a text, the pages of the present organization; with one, of all that match. */
export function ownFinds(
  memberships: readonly Membership[],
  chosen: Membership | null,
  text: string,
): FindGroup[] {
  const isMatch = matcher(text)
  const here = chosen === null ? [] : pagesOf(chosen)
  const elsewhere = memberships.filter((one) => one.name !== chosen?.name).flatMap(pagesOf)
  const pages = [...here, ...(text === '' ? [] : elsewhere)]
    .filter(({ label, note = '' }) => isMatch(`${label} ${note}`))
    .slice(0, text === '' ? here.length : FOUND_MAX)
  const account = { key: 'account', label: 'Your account', to: PATHS.account, search: {} }
  const own = isMatch(account.label) ? [account] : []
  const organizations = memberships
    .filter((one) => one !== chosen && isMatch(one.name))
    .slice(0, FOUND_MAX)
    .map((one) => ({
      key: `switch ${nameOf(one.organization)}`,
      label: one.name,
      note: `${one.organization.kind}, ${one.role}`,
      to: START[one.organization.kind],
      search: { org: nameOf(one.organization) },
    }))
  return [
    { value: 'Pages', items: [...pages, ...own] },
    { value: 'Switch organization', items: organizations },
  ].filter(({ items }) => items.length > 0)
}

function pagesOf(of: Membership): Find[] {
  const org = nameOf(of.organization)
  return listPages(of.organization.kind, of.permissions).map(({ path, label }) => ({
    key: `${org} ${path}`,
    label,
    note: of.name,
    to: path,
    search: { org },
  }))
}

/** Whether a text contains all words, in any order and case. */
function matcher(text: string): (label: string) => boolean {
  const words = text.toLowerCase().split(/\s+/)
  return (label) => words.every((word) => label.toLowerCase().includes(word))
}
