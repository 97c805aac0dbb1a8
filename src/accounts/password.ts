/**
 * Passwords of users: scrypt with N = 2^15 and a new salt each.
 *
 * The stored text contains its cost, so a higher cost later leaves old passwords valid:
 * `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`, salt and hash in base64url.
 */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const COST_LOG2 = 15
const BLOCK_SIZE = 8
const PARALLEL = 1
const HASH_BYTES = 32
const SALT_BYTES = 16
// scrypt needs 128·N·r bytes, here 32 MiB; Node's default limit is exactly that and refuses it.
const MEMORY_BYTES_MAX = 64 * 1024 * 1024

export const PASSWORD_LENGTH_MIN = 10 // docs/spec/interface.md#passwords
export const PASSWORD_LENGTH_MAX = 256 // Long enough for any phrase; limits the work of a sign-in.

const derive = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt)

/** Hashes a password for storage; takes about 60 ms on the thread pool. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password.normalize('NFKC'), salt, HASH_BYTES, cost(COST_LOG2))
  const parameters = `scrypt$${COST_LOG2}$${BLOCK_SIZE}$${PARALLEL}`
  return `${parameters}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

/** Whether a password matches the stored hash; any other stored text never matches. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [name, costLog2, r, p, salt, hash] = stored.split('$')
  if (name !== 'scrypt' || Number(r) !== BLOCK_SIZE || Number(p) !== PARALLEL) return false
  const expected = Buffer.from(hash ?? '', 'base64url')
  if (expected.length !== HASH_BYTES || !/^1[4-7]$/.test(costLog2 ?? '')) return false
  const saltBytes = Buffer.from(salt ?? '', 'base64url')
  const options = cost(Number(costLog2))
  const actual = await derive(password.normalize('NFKC'), saltBytes, HASH_BYTES, options)
  return timingSafeEqual(actual, expected)
}

/** A hash that no password has: checking against it takes as long as against a real one. */
export const UNKNOWN_USER_HASH = `scrypt$${COST_LOG2}$${BLOCK_SIZE}$${PARALLEL}$${'A'.repeat(22)}$${'A'.repeat(43)}`

function cost(log2: number): ScryptOptions {
  return { N: 2 ** log2, r: BLOCK_SIZE, p: PARALLEL, maxmem: MEMORY_BYTES_MAX }
}
