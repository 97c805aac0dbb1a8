/**
 * How often a client may try to sign in.
 *
 * The limit by address fits people, who type slowly. The limit by account exists because addresses
 * cost nothing: one customer's IPv6 network has thousands of the units that limits count. It counts
 * only wrong passwords, also for accounts that do not exist, so a refusal reveals nothing. An
 * attacker can use it up and keep a user from signing in, but sessions and API keys keep working.
 */

import {
  CLIENT_TIMEOUT_MS,
  ConcurrencyLimiter,
} from '../../platform/concurrency/concurrency-limiter.ts'
import { TokenBuckets } from '../../platform/limits/token-bucket.ts'
import { addressUnit } from '../../platform/net/client-address.ts'

/**
 * Twenty attempts at once, then one every five seconds: enough for people, useless for guessing.
 */
const BY_ADDRESS = { rate: 0.2, burst: 20 }
/** NIST SP 800-63B: at most a hundred wrong passwords in a row; then one a minute. */
const BY_ACCOUNT = { rate: 1 / 60, burst: 100 }
/**
 * Wrong codes of a second factor: ten, then one in five minutes. A guess is right three times in a
 * million, and the password must be known before.
 */
const BY_FACTOR = { rate: 1 / 300, burst: 10 }
/** Requests for a new password: five at once, then one a minute. */
const BY_ASKING_ADDRESS = { rate: 1 / 60, burst: 5 }
/** Half of the four threads that also write the spool and resolve names. */
const AT_ONCE = 2

interface Attempt {
  readonly address: string
  readonly email: string
}

export class LoginLimits {
  readonly #byAddress = new TokenBuckets(BY_ADDRESS)
  readonly #byAccount = new TokenBuckets(BY_ACCOUNT)
  readonly #byFactor = new TokenBuckets(BY_FACTOR)
  readonly #byAskingAddress = new TokenBuckets(BY_ASKING_ADDRESS)
  readonly #limiter = new ConcurrencyLimiter(AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
  readonly #now: () => Date

  constructor(now: () => Date) {
    this.#now = now
  }

  /** Counts a request of an address that needs no password; throws 429 over the limit. */
  spendAddress(address: string): void {
    this.#byAddress.spend(addressUnit(address), this.#nowMs())
  }

  /** Counts a request for a new password; throws 429 over the limit. */
  spendReset(address: string): void {
    this.#byAskingAddress.spend(addressUnit(address), this.#nowMs())
  }

  /** The result of `check`, null for a wrong second factor; throws 429 over the limit. */
  async runFactor<T>(uid: number, check: () => Promise<T | null>): Promise<T | null> {
    this.#byFactor.check(String(uid), this.#nowMs())
    const found = await check()
    if (found === null) this.#byFactor.take(String(uid), this.#nowMs())
    return found
  }

  /** The result of `check`, null for a wrong password; throws 429 over a limit. */
  async run<T>({ address, email }: Attempt, check: () => Promise<T | null>): Promise<T | null> {
    const account = accountOf(email)
    this.#byAddress.spend(addressUnit(address), this.#nowMs())
    return this.#limiter.run(async () => {
      // Inside the queue: of a thousand concurrent attempts, the first ones count for the later
      // ones.
      this.#byAccount.check(account, this.#nowMs())
      const found = await check()
      if (found === null) this.#byAccount.take(account, this.#nowMs())
      return found
    })
  }

  #nowMs(): number {
    return this.#now().getTime()
  }
}

/**
 * One name for all spellings that find the same account. PostgreSQL lowers each character
 * separately, to one character. JavaScript turns `İ` into two characters, although it finds `i`,
 * and treats `Σ` at the end of a word differently. Each such spelling would get its own hundred
 * attempts.
 */
function accountOf(email: string): string {
  const lower = (character: string) =>
    String.fromCodePoint(character.toLowerCase().codePointAt(0) ?? 0)
  return Array.from(email, lower).join('')
}
