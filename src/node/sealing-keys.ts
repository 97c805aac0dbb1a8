/** The keys that seal results and sign totals: those of SOUK_SECRETS, or the stored ones. */
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { findSecret, keptSecret } from '../platform/crypto/secrets.ts'
import { Refusal } from '../platform/errors/refusal.ts'
import { type Config, readSealingKeys, type SealingKey } from './config.ts'

type Keeper = Pick<Config, 'sealingKeys' | 'dataDir'>
const NAME = 'sealing-keys'

/** The consequences of a lost key, and what to do. */
export const LOST_KEY =
  'clicks on results that it sealed within a day are not paid, and totals of views that it signed ' +
  'cannot be verified. Restore secrets/ of SOUK_DATA from the backup, or add the key to ' +
  'SOUK_SECRETS, and start again'

/** Created once and stored. Several nodes need the same keys in SOUK_SECRETS. */
export async function ownSealingKeys({ sealingKeys, dataDir }: Keeper) {
  const make = (random: Buffer) => `1:${random.toString('base64')}`
  return sealingKeys ?? readKept(dataDir, await keptSecret(dataDir, NAME, make))
}

/** Existing keys only, for verification that must not create any. */
export async function knownSealingKeys(keeper: Keeper): Promise<readonly SealingKey[]> {
  const kept = keeper.sealingKeys === null ? await findSecret(keeper.dataDir, NAME) : null
  return keeper.sealingKeys ?? (kept === null ? [] : readKept(keeper.dataDir, kept))
}

/** Marks by which nodes can compare their keys without revealing them. */
export function keyFingerprints(keys: readonly SealingKey[]): string[] {
  return keys.map(({ id, key }) => {
    const mark = createHmac('sha256', key).update('the mark of this key').digest('hex')
    return `${id}:${mark.slice(0, MARK_CHARACTERS)}`
  })
}

const MARK_CHARACTERS = 16

/** Never replaces a damaged file: all sealed results in use would become invalid. */
function readKept(dataDir: string, kept: string): readonly SealingKey[] {
  try {
    return readSealingKeys(kept)
  } catch (error) {
    const path = join(dataDir, 'secrets', NAME)
    throw new Refusal(`${path} is damaged: ${(error as Error).message}; restore it from a backup`)
  }
}
