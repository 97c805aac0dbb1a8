/**
 * Fills the examples with the values of a reader who is signed in: ids, slug and a test key.
 *
 * It uses the documented API with the session of the dashboard. A test key is for this page view
 * only: it is stored nowhere in the browser.
 */
import { callApi, type Membership, readMe } from './own-api.ts'
import { makePanel } from './own-panel.ts'
import { readStored, writeStored } from './storage.ts'

const DAY_MS = 86_400_000
/** The examples of statistics show the last week. */
const DAYS_SHOWN = 7

export async function fillOwnValues(): Promise<void> {
  fill('first_day', dayBefore(DAYS_SHOWN))
  fill('last_day', dayBefore(0))
  if (document.querySelector('[data-own]:not([data-own$="_day"])') === null) return
  const me = await readMe()
  if (me === null) return
  for (const kind of ['publisher', 'merchant'] as const) {
    const own = me.memberships.filter(({ organization }) => organization.kind === kind)
    if (own.length === 0 || !isWanted(kind)) continue
    const key = `souk docs ${kind}`
    const chosen = own.find(({ organization }) => String(organization.id) === readStored(key))
    const choose = (membership: Membership) => {
      writeStored(key, String(membership.organization.id))
      return show(membership)
    }
    makePanel({
      kind,
      me,
      own,
      chosen: chosen ?? own[0],
      choose,
      onKey: (value) => fill('key', value),
    })
    await show(chosen ?? own[0])
  }
}

const isWanted = (kind: 'publisher' | 'merchant'): boolean => {
  const values = kind === 'publisher' ? ['publisher', 'slug'] : ['merchant']
  return values.some((value) => document.querySelector(`main [data-own="${value}"]`) !== null)
}

async function show(membership: Membership | undefined): Promise<void> {
  if (membership === undefined) return
  const { kind, id } = membership.organization
  fill(kind, String(id))
  if (kind !== 'publisher' || document.querySelector('[data-own="slug"]') === null) return
  const [settings] = await callApi<{ slug: string }>(`/api/v1/publishers/${id}/settings/`)
  if (settings !== undefined) fill('slug', settings.slug)
}

function fill(name: string, value: string): void {
  for (const place of document.querySelectorAll(`[data-own="${name}"]`)) place.textContent = value
}

const dayBefore = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length)
