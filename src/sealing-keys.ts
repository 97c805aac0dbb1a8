/** The keys that seal results and sign totals: those of SOUK_SECRETS, else the ones kept here. */
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { type Config, readSealingKeys, type SealingKey } from './config.ts'
import { Refusal } from './platform/refusal.ts'
import { findSecret, keptSecret } from './platform/secrets.ts'

type Keeper = Pick<Config, 'sealingKeys' | 'dataDir'>
const NAME = 'sealing-keys'

/** What it costs when results are out whose key is not here any more, and what to do. */
export const LOST_KEY =
  'clicks on results that it sealed within a day are not paid, and totals of views that it signed ' +
  'cannot be verified. Restore secrets/ of SOUK_DATA from the backup, or add the key to ' +
  'SOUK_SECRETS, and start again'

/** Made once and kept; several nodes need the same ones in SOUK_SECRETS. */
export async function ownSealingKeys({ sealingKeys, dataDir }: Keeper) {
  const make = (random: Buffer) => `1:${random.toString('base64')}`
  return sealingKeys ?? readKept(dataDir, await keptSecret(dataDir, NAME, make))
}

/** Only those that there are: for who verifies, and need not leave keys behind. */
export async function knownSealingKeys(keeper: Keeper): Promise<readonly SealingKey[]> {
  const kept = keeper.sealingKeys === null ? await findSecret(keeper.dataDir, NAME) : null
  return keeper.sealingKeys ?? (kept === null ? [] : readKept(keeper.dataDir, kept))
}

/** By these two nodes can tell whether they have the same keys, and nobody what they are. */
export function keyMarks(keys: readonly SealingKey[]): string[] {
  return keys.map(({ id, key }) => {
    const mark = createHmac('sha256', key).update('the mark of this key').digest('hex')
    return `${id}:${mark.slice(0, MARK_CHARACTERS)}`
  })
}

const MARK_CHARACTERS = 16

/** Never made anew for a damaged one: the sealed results that are out would be worth nothing. */
function readKept(dataDir: string, kept: string): readonly SealingKey[] {
  try {
    return readSealingKeys(kept)
  } catch (error) {
    const path = join(dataDir, 'secrets', NAME)
    throw new Refusal(`${path} is damaged: ${(error as Error).message}; restore it from a backup`)
  }
}
