/**
 * How often somebody may try to log in.
 *
 * By address, because people type slowly; and by account, because addresses cost nothing: one
 * customer's IPv6 network holds thousands of those that limits count by. An account's limit counts
 * wrong passwords alone, and those for accounts that nobody has as well: a refusal tells nothing.
 * Who uses it up on purpose keeps a user from logging in, but neither sessions nor API keys.
 */
import { addressUnit } from '../platform/client-address.ts'
import { TokenBuckets } from '../platform/token-bucket.ts'
import { CLIENT_PATIENCE_MS, Turns } from '../platform/turns.ts'

/** Twenty tries at once, then one in five seconds: enough for people, useless for guessing. */
const BY_ADDRESS = { rate: 0.2, burst: 20 }
/** NIST SP 800-63B: no more than a hundred wrong ones in a row; then one a minute. */
const BY_ACCOUNT = { rate: 1 / 60, burst: 100 }
/** Of the four threads that also write the spool and look names up, half. */
const AT_ONCE = 2

interface Attempt {
  readonly address: string
  readonly email: string
}

export class LoginLimits {
  readonly #byAddress = new TokenBuckets(BY_ADDRESS)
  readonly #byAccount = new TokenBuckets(BY_ACCOUNT)
  readonly #turns = new Turns(AT_ONCE, { patienceMs: CLIENT_PATIENCE_MS })
  readonly #now: () => Date

  constructor(now: () => Date) {
    this.#now = now
  }

  /** What `check` resolves with, null for a wrong password; throws 429 over a limit. */
  async run<T>({ address, email }: Attempt, check: () => Promise<T | null>): Promise<T | null> {
    const account = accountOf(email)
    this.#byAddress.spend(addressUnit(address), this.#nowMs())
    return this.#turns.run(async () => {
      // Within the turn: of a thousand that come together the first ones count for the others.
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
 * One name for all spellings that find the same account: PostgreSQL lowers each character by
 * itself, to one character. JavaScript makes two of `İ`, which finds `i`, and looks at a word's end
 * for `Σ`: each such spelling would have a hundred wrong passwords of its own.
 */
function accountOf(email: string): string {
  const lower = (character: string) =>
    String.fromCodePoint(character.toLowerCase().codePointAt(0) ?? 0)
  return Array.from(email, lower).join('')
}
