/** Where a reader is, as far as a campaign needs it: the country, or null (unknown). */
import { stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { CountryResponse, Reader } from 'maxmind'
import { isCountry } from './countries.ts'
import { startPulse } from './pulse.ts'

export interface Geo {
  countryOf(request: { headers: IncomingHttpHeaders; address: string }): string | null
  close(): void
}

/** Opens the configured source: a proxy's header, a MaxMind database, or none. */
export async function openGeo(options: {
  readonly header: string | null
  readonly database: string | null
  /** A new version of the database that cannot be read; the one before it goes on. */
  readonly onError: (error: unknown) => void
}): Promise<Geo> {
  const { header, database } = options
  if (header !== null) {
    return {
      countryOf: ({ headers }) => {
        const value = String(headers[header] ?? '').toUpperCase()
        return isCountry(value) ? value : null // Proxies write XX or T1 where they know none.
      },
      close: () => undefined,
    }
  }
  if (database !== null) return openDatabase(database, options.onError)
  return { countryOf: () => null, close: () => undefined }
}

/**
 * Looked up in memory, and read anew when the file changes. Our own watch, because the package's
 * keeps a stopping process alive, and ends a running one over a file that is just being written.
 */
async function openDatabase(path: string, onError: (error: unknown) => void): Promise<Geo> {
  // Loaded on use: most nodes sit behind a proxy that knows the country.
  const { open } = await import('maxmind')
  let version = await versionOf(path)
  let reader: Reader<CountryResponse> = await open(path)
  const renew = async () => {
    const newest = await versionOf(path)
    if (newest === version) return
    version = newest
    reader = await open(path)
  }
  const timer = startPulse(renew, { everyMs: RENEW_MS, onError })
  return {
    countryOf: ({ address }) =>
      isIP(address) === 0 ? null : (reader.get(address)?.country?.iso_code ?? null),
    close: () => clearInterval(timer),
  }
}

/** Another file, or other content. */
async function versionOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path)
  return `${ino} ${size} ${mtimeMs}`
}

/** Databases are renewed about once a week. */
const RENEW_MS = 5_000
