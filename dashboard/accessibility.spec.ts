/** Every page of the menu against the rules of axe: light and dark, on a phone and on a desktop. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { createUser } from '../src/accounts/create-account.ts'
import { setMembership } from '../src/accounts/membership-store.ts'
import { NETWORK, type Organization } from '../src/accounts/permission.ts'
import { startApi } from '../test/support/api.ts'
import { follow, makeMarket, runAuction } from '../test/support/market.ts'
import { nameOf } from './membership.ts'
import { PAGES, START } from './navigation.ts'
import { visitAs } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
const market = await makeMarket(api)
await market.campaign(market.kettles)
const ORGANIZATIONS: readonly Organization[] = [
  { kind: 'publisher', id: market.account.pubId },
  { kind: 'merchant', id: market.kettles },
  NETWORK,
]
const user = { email: 'all@souk.example', password: 'a long password' }
const { uid } = await createUser(api.db, { ...user, isAdmin: false })
for (const organization of ORGANIZATIONS) {
  const role = organization.kind === 'network' ? 'admin' : 'owner'
  await setMembership(api.db, { uid, organization, role })
}

/** Some figures, so that pages draw more than their empty states. */
const { auction_result } = await runAuction(api, await market.link())
await follow(api, auction_result.redirect_url)
await api.app.untilFolded()

const LOOKS = [
  { width: 1440, colorScheme: 'light', rules: null },
  { width: 390, colorScheme: 'dark', rules: null },
  // Only colours depend on the combination of both.
  { width: 390, colorScheme: 'light', rules: ['color-contrast'] },
  { width: 1440, colorScheme: 'dark', rules: ['color-contrast'] },
] as const

/** The library's focus guards pass the focus on at once, which axe cannot see. */
const GUARDS = '[data-base-ui-focus-guard]'

interface Run {
  /** All rules by default. */
  readonly rules?: readonly string[] | null
  /** Menus and windows above the page belong to no landmark. */
  readonly isAbove?: boolean
}

async function violationsOn(page: Page, { rules = null, isAbove = false }: Run) {
  // Through the debugger, to which the policy of the page does not apply.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  const found = await page.evaluate(
    ({ only, guards, hasRegion }) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(
        { exclude: [guards] },
        {
          ...(only === null ? {} : { runOnly: [...only] }),
          rules: { region: { enabled: hasRegion } },
          resultTypes: ['violations'],
        },
      ),
    { only: rules, guards: GUARDS, hasRegion: !isAbove },
  )
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

test('no page violates an accessibility rule, in any colour scheme and width', async (t) => {
  const { page } = await visitAs(user, t, { service: api.url, path: '/dashboard/account' })
  const faults: string[] = []
  for (const entry of PAGES.filter(({ isDetail }) => isDetail !== true)) {
    const at =
      ORGANIZATIONS.find(({ kind }) => kind === entry.kind) ?? (ORGANIZATIONS[0] as Organization)
    await page.goto(`${api.url}/dashboard${entry.path}?org=${nameOf(at)}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    for (const { width, colorScheme, rules } of LOOKS) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const found = await violationsOn(page, { rules })
      faults.push(...found.map((fault) => `${entry.path} ${width} ${colorScheme}: ${fault}`))
    }
  }
  assert.deepEqual(faults, [])
})

test('what opens above a page violates no accessibility rule', async (t) => {
  const { page } = await visitAs(user, t, { service: api.url, path: `/dashboard${START.network}` })
  const opened = [
    () => page.getByRole('button', { name: 'Account menu' }).click(),
    () => page.getByRole('combobox', { name: 'Organization', exact: true }).click(),
    () => page.keyboard.press('Control+k'),
  ]
  for (const open of opened) {
    await open()
    await page.locator('[data-open]').first().waitFor()
    await page.waitForFunction(() => document.getAnimations().length === 0)
    assert.deepEqual(await violationsOn(page, { isAbove: true }), [])
    await page.keyboard.press('Escape')
    await page.locator('[data-open]').first().waitFor({ state: 'detached' })
  }
})

test('the palette finds a page of another organization by keyboard alone', async (t) => {
  const { page } = await visitAs(user, t, { service: api.url, path: `/dashboard${START.network}` })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search' }).waitFor()
  await page.keyboard.type('campaigns kettles')
  await page.getByRole('option', { name: 'Campaigns' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /Campaigns/ }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('org'), `merchant-${market.kettles}`)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('no such thing')
  await page.getByText('Nothing found for “no such thing”').waitFor()
})
