/**
 * Takes the pictures of the README and the docs: `npm run pictures`.
 *
 * Starts a demo in a temporary folder, clicks one link of an article as a reader would, and
 * photographs pages of the dashboard, each signed in as the person who uses it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { DemoState } from '../src/demo/load.ts'
import { ARTICLES } from '../src/demo/network.ts'
import { freePort } from '../test/support/free-port.ts'
import { CHROMIUM, needProgram } from '../test/support/programs.ts'
import { readyUrl, SOUK } from '../test/support/souk.ts'

const DOCS = join(import.meta.dirname, '..', 'docs')
/** Clicks from the user agent of a headless browser count as bots. */
const READER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'
/** A click within 0.3 s of the page view is rejected, and figures update within 5 s. */
const SETTLE_MS = 6_000
const WIDE = { width: 1440, height: 900 }
const RECEIPT = { width: 1040, height: 740 }

interface Picture {
  readonly file: string // below docs/pictures
  readonly email: string
  readonly path: string
}

const PUBLISHER = 'publisher-owner@souk.example'
const MERCHANT = 'merchant-owner@souk.example'
const PICTURES: readonly Picture[] = [
  { file: 'overview.png', email: PUBLISHER, path: '/' },
  { file: 'links.png', email: PUBLISHER, path: '/links' },
  { file: 'merchant.png', email: MERCHANT, path: '/merchant' },
  { file: 'network.png', email: 'admin@souk.example', path: '/network' },
]

const dataDir = await mkdtemp(join(tmpdir(), 'souk-pictures-'))
const env = { ...process.env, SOUK_DATA: dataDir, PORT: String(await freePort()) }
const stdio = ['ignore', 'pipe', 'inherit'] as const
const demo = spawn(process.execPath, [SOUK, 'demo'], { env, stdio: [...stdio] })
try {
  const dashboard = `${await readyUrl(demo)}/dashboard`
  const state = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as DemoState
  const browser = await chromium.launch({
    executablePath: needProgram(CHROMIUM),
    args: [`--user-agent=${READER}`, '--no-sandbox'],
  })
  await clickLink(browser, state)
  await takeReceipt(browser, { dashboard, state })
  await mkdir(join(DOCS, 'pictures'), { recursive: true })
  for (const picture of PICTURES) await takePicture(browser, { dashboard, state }, picture)
  await browser.close()
} finally {
  demo.kill('SIGTERM')
  if (demo.exitCode === null) await once(demo, 'exit')
  await rm(dataDir, { recursive: true, force: true })
}

interface Shown {
  readonly dashboard: string
  readonly state: DemoState
}

/** A reader opens the first article and clicks its first link. */
async function clickLink(browser: Browser, { sitePort }: DemoState): Promise<void> {
  const page = await newPage(browser, RECEIPT)
  const article = ARTICLES[0]
  await page.goto(`http://${article?.publisher}.localhost:${sitePort}/${article?.slug}`)
  await sleep(SETTLE_MS)
  await page.locator('a[href*="/api/v1/redirect/"]').first().click()
  await sleep(SETTLE_MS)
  await page.context().close()
}

async function takeReceipt(browser: Browser, { dashboard, state }: Shown): Promise<void> {
  const page = await newPage(browser, RECEIPT)
  await signIn(page, { dashboard, email: state.email, password: state.password })
  await page.goto(`${dashboard}/clicks`)
  await page.getByRole('link', { name: 'Receipt' }).first().click()
  await page.getByText('candidates').waitFor()
  await page.screenshot({ path: join(DOCS, 'receipt.png') })
  await page.context().close()
}

async function takePicture(
  browser: Browser,
  { dashboard, state }: Shown,
  { file, email, path }: Picture,
): Promise<void> {
  const page = await newPage(browser, WIDE)
  await signIn(page, { dashboard, email, password: state.password })
  await page.goto(`${dashboard}${path}`, { waitUntil: 'networkidle' })
  await page.screenshot({ path: join(DOCS, 'pictures', file) })
  await page.context().close()
}

async function newPage(browser: Browser, viewport: typeof WIDE): Promise<Page> {
  return (await browser.newContext({ viewport })).newPage()
}

async function signIn(
  page: Page,
  user: { readonly dashboard: string; readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto(`${user.dashboard}/`)
  await page.getByLabel('E-mail').fill(user.email)
  await page.getByLabel('Password').fill(user.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Log in' }).waitFor({ state: 'detached' })
}
