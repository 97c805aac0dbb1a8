/** The programs that some tests need: a browser, a NATS server. Found, never downloaded. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Need {
  readonly programs: readonly string[] // Names on the path, or absolute paths.
  readonly aptPackage: string
  readonly purpose: string
}

export const CHROMIUM: Need = {
  programs: [
    'chromium',
    'chromium-browser',
    'google-chrome',
    'google-chrome-stable',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  aptPackage: 'chromium',
  purpose: 'the browser tests',
}

export const NATS_SERVER: Need = {
  programs: ['nats-server'],
  aptPackage: 'nats-server',
  purpose: 'the tests of the event log on JetStream',
}

// An ordinary user's path may lack the folders where servers are installed.
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** The path of a program; null if the machine does not have it. */
export function findProgram({ programs }: Need): string | null {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_FOLDERS]
  const candidates = programs.flatMap((name) =>
    name.startsWith('/') ? [name] : folders.map((folder) => join(folder, name)),
  )
  return candidates.find(isExecutable) ?? null
}

/** Like `findProgram`, but throws with the command that installs it. */
export function needProgram(need: Need): string {
  const found = findProgram(need)
  if (found !== null) return found
  throw new Error(`${need.purpose} need ${need.programs[0]}: ${installCommand([need])}`)
}

/** The one command that installs what is missing. */
export function installCommand(needs: readonly Need[]): string {
  const packages = needs.map((need) => need.aptPackage).join(' ')
  return process.platform === 'darwin'
    ? `brew install ${packages}`
    : `sudo apt-get install -y ${packages}`
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
