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

/** The rule for pages that others choose: they may not reach the operator's network. */
export interface Confinement {
  /** The only way out: a proxy that dials public addresses only. */
  readonly proxyUrl: string
  /** Only tests, which may run as root: as root Chromium has no sandbox, and must not start. */
  readonly isSandboxOff?: boolean
}

/**
 * With a proxy the browser resolves no name and dials no address: neither by DNS nor by UDP, which
 * proxies do not carry (WebRTC, QUIC). The sandbox protects the machine from the page.
 */
function confine({ proxyUrl, isSandboxOff = false }: Confinement) {
  return {
    chromiumSandbox: !isSandboxOff,
    proxy: { server: proxyUrl, bypass: '<-loopback>' },
    args: [
      ...FLAGS,
      `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${new URL(proxyUrl).hostname}`,
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
      '--webrtc-ip-handling-policy=disable_non_proxied_udp', // The name in newer versions.
      '--disable-quic',
    ],
  }
}

export interface BrowserOptions {
  /** The path of the browser. */
  readonly chromium: string
  readonly confinement?: Confinement
  /** Kills the browser. */
  readonly signal?: AbortSignal
}

/**
 * Starts a browser. It is killed at the end: a clean close would send the requests that a check
 * holds back, events among them. Its leftover files are removed here.
 */
export async function openBrowser({
  chromium: executablePath,
  confinement,
  signal,
}: BrowserOptions): Promise<AsyncDisposable & { readonly browser: Browser }> {
  const { chromium } = await import('playwright-core') // Large, and rarely needed.
  await using opening = new AsyncDisposableStack()
  const parent = shortTemporaryFolder(`souk-XXXXXX/${SOCKET}`)
  const folder = opening.use(await mkdtempDisposable(join(parent, 'souk-')))
  const options = {
    executablePath,
    // Pages are untrusted; as root Chromium does not start with its sandbox.
    chromiumSandbox: process.getuid?.() !== 0,
    args: FLAGS,
    ...(confinement === undefined ? {} : confine(confinement)),
    env: environmentWith({ TMPDIR: folder.path }),
    host: '127.0.0.1',
  }
  const server = await chromium.launchServer(options).catch((error: Error) => {
    const [reason] = error.message.split('\n') // Its log follows the first line.
    throw new Refusal(`no browser starts from ${executablePath}; --chromium names one. ${reason}`)
  })
  opening.defer(() => server.kill())
  signal?.addEventListener('abort', () => void server.kill())
  const browser = await chromium.connect(server.wsEndpoint())
  const opened = opening.move()
  return { browser, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
