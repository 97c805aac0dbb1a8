/** A URL of somebody else's organization says so, offers one's own, and asks for nothing of it. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { createUser } from '../src/accounts/create-account.ts'
import { setMembership } from '../src/accounts/membership-store.ts'
import { startApi } from '../test/support/api.ts'
import { makeMarket } from '../test/support/market.ts'
import { PAGES, START } from './navigation.ts'
import { logIn, visitAs, visitPage } from './testing/visit.ts'

// Over http, because on https the session's cookie would be Secure.
const api = await startApi({ after }, { env: { BASE_URL: 'http://127.0.0.1' } })
/** The organizations that nobody below may see. */
const foreign = await makeMarket(api, { name: 'Secret Gazette' })
const publisher = await api.account({ name: 'The Weekly' })
const merchant = { email: 'ann@pans.example', password: 'a long password' }
const { uid } = await createUser(api.db, { ...merchant, isAdmin: false })
const own = { kind: 'merchant', id: foreign.pans } as const
await setMembership(api.db, { uid, organization: own, role: 'owner' })
const nobody = { email: 'nobody@souk.example', password: 'a long password' }
await createUser(api.db, { ...nobody, isAdmin: false })

const OTHERS = { publisher: foreign.account.pubId, merchant: foreign.kettles } as const
type Kind = keyof typeof OTHERS

/** The pages of an organization; a page of one record gets an ID. */
const pathsOf = (kind: Kind): string[] =>
  PAGES.filter((page) => page.kind === kind || (page.kind === 'any' && page.except !== kind)).map(
    ({ path }) => path.replace(/\$\w+/, '1'),
  )

/** Opens pages with the other's ID: all of them, or only the first. */
async function visitForeign(
  t: TestContext,
  who: typeof nobody,
  { kind, offered, isFirstOnly = false }: { kind: Kind; offered: number; isFirstOnly?: boolean },
) {
  const { page, requests, troubles } = await visitAs(who, t, {
    service: api.url,
    path: '/dashboard/account',
  })
  const id = OTHERS[kind]
  for (const path of isFirstOnly ? [START[kind]] : pathsOf(kind)) {
    await page.goto(`${api.url}/dashboard${path}?org=${kind}-${id}`)
    await page.getByRole('heading', { name: `This ${kind} is not yours` }).waitFor()
    assert.equal(await page.getByRole('main').getByRole('button').count(), offered, path)
    assert.doesNotMatch(await page.content(), /Secret Gazette|Kettles/, path)
  }
  const old = `${START[kind]}?${kind === 'publisher' ? 'pub' : 'merch'}=${id}`
  await page.goto(`${api.url}/dashboard${old}`)
  await page.getByRole('heading', { name: `This ${kind} is not yours` }).waitFor()
  assert.deepEqual(
    requests.filter((url) => url.includes(`/${kind}s/${id}/`)),
    [],
  )
  assert.deepEqual(troubles, [])
  return page
}

test('a publisher sees no page of another publisher, and can switch to its own', async (t) => {
  const page = await visitForeign(t, publisher, { kind: 'publisher', offered: 1 })
  await page.getByRole('main').getByRole('button', { name: 'The Weekly' }).click()
  await page.getByRole('heading', { level: 1, name: 'The Weekly' }).waitFor()
  assert.match(page.url(), new RegExp(`org=publisher-${publisher.pubId}`))
})

test('a merchant sees no page of another merchant, and can switch to its own', async (t) => {
  const page = await visitForeign(t, merchant, { kind: 'merchant', offered: 1 })
  await page.getByRole('main').getByRole('button', { name: 'Pans' }).click()
  await page.getByRole('heading', { level: 1, name: 'Pans' }).waitFor()
})

test('a publisher and a merchant see nothing of each other', async (t) => {
  await visitForeign(t, publisher, { kind: 'merchant', offered: 1, isFirstOnly: true })
  await visitForeign(t, merchant, { kind: 'publisher', offered: 1, isFirstOnly: true })
})

test('a person without an organization sees nothing of any', async (t) => {
  await visitForeign(t, nobody, { kind: 'publisher', offered: 0, isFirstOnly: true })
  await visitForeign(t, nobody, { kind: 'merchant', offered: 0, isFirstOnly: true })
})

test('people without a role in the network see none of its pages', async (t) => {
  const { page } = await visitPage(t, { service: api.url, path: '/dashboard/network' })
  await logIn(page, publisher)
  for (const path of PAGES.filter(({ kind }) => kind === 'network').map(({ path }) => path)) {
    await page.goto(`${api.url}/dashboard${path}`)
    await page.getByRole('heading', { name: 'Only for the operator' }).waitFor()
  }
  await page.goto(`${api.url}/dashboard/network?org=network`)
  await page.getByRole('heading', { name: 'Only for the operator' }).waitFor()
})
