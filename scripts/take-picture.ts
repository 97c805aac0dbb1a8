/**
 * Takes docs/receipt.png, the picture in the README, from a running `npm start`.
 *
 *   node scripts/take-picture.ts <article URL> <dashboard URL> <email> <password>
 *
 * `npm start` prints all four. The script clicks one link of the article as a reader would.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { CHROMIUM, needProgram } from '../test/support/programs.ts'

const [article = '', dashboard = '', email = '', password = ''] = process.argv.slice(2)
/** Clicks from the user agent of a headless browser count as bots. */
const READER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/149.0 Safari/537.36'
/** A click within 0.3 s of the page view is rejected, and figures update within 5 s. */
const SETTLE_MS = 6_000
const VIEWPORT = { width: 1040, height: 740 }

const browser = await chromium.launch({
  executablePath: needProgram(CHROMIUM),
  args: [`--user-agent=${READER}`, '--no-sandbox'],
})
const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage()
await page.goto(article)
await sleep(SETTLE_MS)
await page.locator('a[href*="/api/v1/redirect/"]').first().click()
await sleep(SETTLE_MS)
await page.goto(dashboard)
await page.getByLabel('E-mail').fill(email)
await page.getByLabel('Password').fill(password)
await page.getByRole('button', { name: 'Log in' }).click()
await page.getByRole('link', { name: 'Clicks', exact: true }).click()
await page.getByRole('link', { name: 'Receipt' }).first().click()
await page.getByText('candidates').waitFor()
await page.screenshot({ path: `${import.meta.dirname}/../docs/receipt.png` })
await browser.close()
