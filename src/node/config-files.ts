/** Reads files and folders named by the configuration. Faults are reported with all others. */
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Cidr, readCidr } from '../platform/net/client-address.ts'

/** The CIDR lines of the file that IP_BLOCKLIST names; `#` begins a comment. */
export function readBlocklist(path: string): Cidr[] {
  if (path === '') return []
  const wrong: string[] = []
  const lines = readFileSync(readableFile(path), 'utf8').split('\n')
  const blocks = lines.flatMap((line, index) => {
    const value = line.replace(/#.*/, '').trim()
    try {
      return value === '' ? [] : [readCidr(value)]
    } catch (error) {
      wrong.push(`line ${index + 1}: ${(error as Error).message}`)
      return []
    }
  })
  if (wrong.length > 0) throw new Error(`"${path}" ${wrong.slice(0, LINES_NAMED_MAX).join('; ')}`)
  return blocks
}

/** A longer list would not help. */
const LINES_NAMED_MAX = 10

/** The path of a MaxMind DB country database, recognized by the metadata near its end. */
export function readGeoip(path: string): string {
  const file = openSync(readableFile(path), 'r')
  const end = Buffer.alloc(GEOIP_DESCRIPTION_BYTES)
  readSync(file, end, { position: Math.max(0, fstatSync(file).size - end.length) })
  closeSync(file)
  if (!end.includes(GEOIP_MARK)) throw new Error(`"${path}" is not a MaxMind database (.mmdb)`)
  return path
}

const GEOIP_MARK = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const GEOIP_DESCRIPTION_BYTES = 128 * 1024

/** The path itself, if this process may read the file. */
export function readableFile(path: string): string {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    throw new Error(`"${path}" cannot be read: ${(error as Error).message}`)
  }
  if (!statSync(path).isFile()) throw new Error(`"${path}" is not a file`)
  return path
}

/** The absolute path of a folder that exists or can be created. */
export function readFolder(value: string): string {
  const path = resolve(value)
  const nearest = nearestThatExists(path)
  if (!statSync(nearest).isDirectory()) {
    throw new Error(`"${path}" cannot be used: "${nearest}" is not a folder`)
  }
  return path
}

function nearestThatExists(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined
  return isThere || path === dirname(path) ? path : nearestThatExists(dirname(path))
}
