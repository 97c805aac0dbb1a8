/** Checks that SOUK_DATA exists and is writable, or ends the start with the reason. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../platform/files/make-folder.ts'
import { type Config, ConfigError } from './config.ts'

const ONLY_OURS = 0o700

export async function makeDataFolder(path: string): Promise<void> {
  try {
    await makeFolder(path, { mode: ONLY_OURS })
    // The final slash excludes a file with that name.
    await access(join(path, '/'), constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new ConfigError([`SOUK_DATA: "${path}" cannot be used: ${(error as Error).message}`])
  }
}

export function spoolFolder({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'spool')
}
