/** The reader's country, as campaigns target it; null if unknown. */
import { stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { CountryResponse, Reader } from 'maxmind'
import { startPoller } from '../concurrency/poller.ts'
import { Refusal } from '../errors/refusal.ts'
import { isCountry } from './countries.ts'

export interface Geo {
  countryOf(request: { headers: IncomingHttpHeaders; address: string }): string | null
  close(): void
}

/** Opens the configured source: a proxy's header, a MaxMind database, or none. */
export async function openGeo(options: {
  readonly header: string | null
  readonly database: string | null
  /** Receives read errors: of a new version (the old one stays in use) or of a damaged block. */
  readonly onError: (error: unknown) => void
}): Promise<Geo> {
  const { header, database } = options
  if (header !== null) {
    return {
      countryOf: ({ headers }) => knownCountry(headers[header]),
      close: () => undefined,
    }
  }
  if (database !== null) return openDatabase(database, options.onError)
  return { countryOf: () => null, close: () => undefined }
}

/** For unknown countries proxies send XX or T1, and databases contain A1 or EU. */
function knownCountry(value: unknown): string | null {
  const code = String(value ?? '').toUpperCase()
  return isCountry(code) ? code : null
}

/**
 * Holds the database in memory and reloads it when the file changes. The package's own watcher
 * keeps a stopping process alive and crashes a running one if the file is still being written.
 */
async function openDatabase(path: string, onError: (error: unknown) => void): Promise<Geo> {
  let version = await versionOf(path)
  let reader = await read(path)
  const renew = async () => {
    const newest = await versionOf(path)
    if (newest === version) return
    reader = await read(path)
    version = newest // Set only now, so a file that could not be read is tried again.
  }
  const timer = startPoller(renew, { everyMs: RENEW_MS, onError })
  return {
    countryOf: ({ address }) => {
      try {
        return lookUp(reader, address)
      } catch (error) {
        onError(error) // A damaged block: its readers are redirected with an unknown country.
        return null
      }
    },
    close: () => clearInterval(timer),
  }
}

function lookUp(reader: Reader<CountryResponse>, address: string): string | null {
  const kind = isIP(address)
  // Otherwise the package would read half of an IPv6 address as an IPv4 address.
  const isCovered = kind === 4 || kind === reader.metadata.ipVersion
  return isCovered ? knownCountry(reader.get(address)?.country?.iso_code) : null
}

/** Throws if the file is damaged or contains other data than countries. */
async function read(path: string): Promise<Reader<CountryResponse>> {
  // Loaded on use, because most nodes are behind a proxy that knows the country.
  const { open } = await import('maxmind')
  try {
    const reader = await open<CountryResponse>(path)
    if (namesCountries(reader)) return reader
  } catch (error) {
    throw new Refusal(`GEOIP_DB: "${path}" cannot be read: ${(error as Error).message}`)
  }
  throw new Refusal(
    `GEOIP_DB: "${path}" says no country of an address (country.iso_code): name a country or ` +
      'city database in the format of MaxMind’s',
  )
}

/** A database of providers or proxies has no country in its first blocks. */
function namesCountries(reader: Reader<CountryResponse>): boolean {
  let first = 0
  for (let blocks = 0; blocks < BLOCKS_TRIED_MAX && first < IPV4_ADDRESSES; blocks += 1) {
    const [found, bits] = reader.getWithPrefixLength(ipv4(first))
    if (knownCountry(found?.country?.iso_code) !== null) return true
    first += IPV4_ADDRESSES / 2 ** bits
  }
  return false
}

const BLOCKS_TRIED_MAX = 10_000
const IPV4_ADDRESSES = 2 ** 32

function ipv4(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
}

/** Identifies a version of the file by inode, size and modification time. */
async function versionOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path)
  return `${ino} ${size} ${mtimeMs}`
}

/** Databases are released about once a week. */
const RENEW_MS = 5_000
