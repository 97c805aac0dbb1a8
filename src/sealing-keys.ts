/** The keys that seal results and sign totals: those of SOUK_SECRETS, else the ones kept here. */
import { type Config, readSealingKeys, type SealingKey } from './config.ts'
import { findSecret, keptSecret } from './platform/secrets.ts'

type Keeper = Pick<Config, 'sealingKeys' | 'dataDir'>
const NAME = 'sealing-keys'

/** Made once and kept; several nodes need the same ones in SOUK_SECRETS. */
export async function ownSealingKeys({ sealingKeys, dataDir }: Keeper) {
  const make = (random: Buffer) => `1:${random.toString('base64')}`
  return sealingKeys ?? readSealingKeys(await keptSecret(dataDir, NAME, make))
}

/** Only those that there are: for who verifies, and need not leave keys behind. */
export async function knownSealingKeys(keeper: Keeper): Promise<readonly SealingKey[]> {
  const kept = keeper.sealingKeys === null ? await findSecret(keeper.dataDir, NAME) : null
  return keeper.sealingKeys ?? (kept === null ? [] : readSealingKeys(kept))
}
