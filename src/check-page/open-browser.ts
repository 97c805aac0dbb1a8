/** Starts the browser that checks a page. */
import { mkdtempDisposable } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { environmentWith } from '../node/config.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { shortTemporaryFolder } from '../platform/files/socket-folder.ts'
import { WITHOUT_FEATURES } from './browser-features.ts'

const FLAGS = [
  ...['--disable-gpu', '--no-first-run', '--disable-background-networking'],
  WITHOUT_FEATURES,
]

/** Chromium's socket in its temporary folder: Chromium does not start if this path is too long. */
const SOCKET = 'org.chromium.Chromium.XXXXXX/SingletonSocket'

/**
 * Starts a browser. It is killed at the end: a clean close would send the requests that a check
 * holds back, events among them. Its leftover files are removed here.
 */
export async function openBrowser(
  executablePath: string,
): Promise<AsyncDisposable & { readonly browser: Browser }> {
  const { chromium } = await loadPlaywright()
  await using opening = new AsyncDisposableStack()
  const parent = shortTemporaryFolder(`souk-XXXXXX/${SOCKET}`)
  const folder = opening.use(await mkdtempDisposable(join(parent, 'souk-')))
  const options = {
    executablePath,
    // Pages are untrusted; as root Chromium does not start with its sandbox.
    chromiumSandbox: process.getuid?.() !== 0,
    args: FLAGS,
    env: environmentWith({ TMPDIR: folder.path }),
    host: '127.0.0.1',
  }
  const server = await chromium.launchServer(options).catch((error: Error) => {
    const [reason] = error.message.split('\n') // Its log follows the first line.
    throw new Refusal(`no browser starts from ${executablePath}; --chromium names one. ${reason}`)
  })
  opening.defer(() => server.kill())
  const browser = await chromium.connect(server.wsEndpoint())
  const opened = opening.move()
  return { browser, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function loadPlaywright(): Promise<typeof import('playwright-core')> {
  try {
    return await import('playwright-core')
  } catch {
    throw new Refusal('souk check-page needs playwright-core: npm install --include=dev')
  }
}
