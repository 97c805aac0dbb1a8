/** The screen that explains the demo and how to sign in, with credentials that still work. */
import { hashApiKey } from '../accounts/api-key.ts'
import { isPassword } from '../accounts/password.ts'
import { findKeyHolder, findUserByEmail } from '../accounts/store.ts'
import type { Config } from '../node/config.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { type DemoDeps, type DemoState, siteUrl } from './load.ts'
import { ARTICLES } from './network.ts'

type ScreenConfig = Pick<Config, 'baseUrl' | 'brand' | 'dataDir'>

/** Users of the demo may change its password and disable its key, as the dashboard offers. */
export async function demoScreen(
  config: ScreenConfig,
  { deps, state }: { deps: Pick<DemoDeps, 'database' | 'now'>; state: DemoState },
): Promise<string> {
  const [login, roles, key] = await Promise.all([
    printLogin(deps, state),
    printRoles(deps, state),
    findKey(deps, state),
  ])
  const now = deps.now().getTime()
  const day = (offset: number) => utcDay(now + offset * DAY_MS)
  const pubId = Object.values(state.publishers)[0] ?? 1
  const articles = ARTICLES.map(
    ({ publisher, slug }) => `    ${siteUrl(publisher, state.sitePort)}/${slug}`,
  )
  const header = `Authorization: ${config.brand.toUpperCase()}-API-KEY ${key ?? 'YOUR-KEY'}`
  // One line that can be copied as it is.
  const path = `/api/v1/publishers/${pubId}/stats_by_article_merchant_daily/`
  const stats = `${config.baseUrl}${path}?date_from=${day(-1)}&date_to=${day(1)}`
  return `
  Souk is running, with a demo network: two magazines, six shops.

  Open an article, watch its links go to auction, click one:
${articles.join('\n')}

  Dashboard      ${config.baseUrl}/dashboard/
    login        ${login}${roles}
  Documentation  ${config.baseUrl}/docs/
  API key        ${key ?? 'the demo’s was disabled; the dashboard makes another'}

  The statistics, seconds after a click:
    curl -H '${header}' '${stats}'

  Data in ${config.dataDir}. Stop with Ctrl-C; delete that folder to start again.
`
}

async function printLogin(
  { database }: Pick<DemoDeps, 'database'>,
  { email, password }: DemoState,
): Promise<string> {
  const user = await findUserByEmail(database, email)
  if (user === null)
    return 'the demo’s user has another e-mail address now; souk user list shows it'
  const isOpen = await isPassword(password, user.password_hash)
  return `${email}  ${isOpen ? password : '(its password was changed)'}`
}

/** The logins with a single role whose password still works. */
async function printRoles(
  { database }: Pick<DemoDeps, 'database'>,
  { password, logins = [] }: DemoState,
): Promise<string> {
  const checks = logins.map(async ({ email, role, of }) => {
    const user = await findUserByEmail(database, email)
    const isOpen = user !== null && (await isPassword(password, user.password_hash))
    return isOpen ? [`                 ${email.padEnd(EMAIL_COLUMNS)}  ${role} of ${of}`] : []
  })
  const lines = (await Promise.all(checks)).flat()
  if (lines.length === 0) return ''
  return ['', `    one role     with the password ${password}:`, ...lines].join('\n')
}

/** `publisher-manager@souk.example` */
const EMAIL_COLUMNS = 31

async function findKey(
  { database, now }: Pick<DemoDeps, 'database' | 'now'>,
  { apiKey }: DemoState,
): Promise<string | null> {
  const holder = await findKeyHolder(database, { keyHash: hashApiKey(apiKey), now: now() })
  return holder === null ? null : apiKey
}

export function ownDataScreen({ baseUrl, dataDir }: ScreenConfig): string {
  return `
  Souk is running on the data in ${dataDir} (not a demo).

  Dashboard      ${baseUrl}/dashboard/
  Documentation  ${baseUrl}/docs/

  Stop with Ctrl-C.
`
}
