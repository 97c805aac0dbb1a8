/**
 * SOUK_DATA: there and ours to write in, or the start ends with the reason.
 *
 * Made step by step rather than by a recursive mkdir, which never returns where the system forbids
 * new folders (below /proc).
 */
import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigError } from './config.ts'

const ONLY_OURS = 0o700

export async function makeDataFolder(path: string): Promise<void> {
  try {
    await make(path, { isParentThere: false })
    await access(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new ConfigError([`SOUK_DATA: "${path}" cannot be used: ${(error as Error).message}`])
  }
}

async function make(path: string, { isParentThere }: { isParentThere: boolean }): Promise<void> {
  try {
    await mkdir(path, ONLY_OURS)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || isParentThere || dirname(path) === path) throw error
    await make(dirname(path), { isParentThere: false })
    await make(path, { isParentThere: true })
  }
}
