/** Where a reader is, as far as a campaign needs it: the country, or null (unknown). */
import type { IncomingHttpHeaders } from 'node:http'
import type { CountryResponse, Reader } from 'maxmind'

export interface Geo {
  countryOf(request: { headers: IncomingHttpHeaders; address: string }): string | null
}

const COUNTRY = /^[A-Z]{2}$/

/** Opens the configured source: a proxy's header, a MaxMind database, or none. */
export async function openGeo(options: {
  header: string | null
  database: string | null
}): Promise<Geo> {
  const { header } = options
  if (header !== null) {
    return {
      countryOf: ({ headers }) => {
        const value = String(headers[header] ?? '').toUpperCase()
        return COUNTRY.test(value) ? value : null
      },
    }
  }
  if (options.database === null) return { countryOf: () => null }
  // Loaded on use: most nodes sit behind a proxy that knows the country.
  const maxmind = await import('maxmind')
  const reader: Reader<CountryResponse> = await maxmind.open(options.database, {
    watchForUpdates: true,
  })
  return { countryOf: ({ address }) => reader.get(address)?.country?.iso_code ?? null }
}
