/** Turns a file error of the system into an error of the option that names the file. */

const RULES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not change it',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EROFS: 'lies on a disk that cannot be written to',
  ENOSPC: 'the disk is full',
}

/** `file: there is no such file or folder: "nope.csv"`; null if it is no file error. */
export function fileFault(
  error: unknown,
  options: Readonly<Record<string, unknown>>,
): string | null {
  if (!(error instanceof Error) || !('syscall' in error && 'path' in error)) return null
  const { code = '', path } = error as NodeJS.ErrnoException
  const rule = RULES[code]
  if (rule === undefined || path === undefined) return error.message
  const fault = `${rule}: "${path}"`
  const named = Object.entries(options).find(([, value]) => isAbout(path, value))
  return named === undefined ? fault : `${named[0]}: ${fault}`
}

/** The option's file, a file below its folder, or a folder on the way to it. */
function isAbout(path: string, value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false
  return path === value || path.startsWith(`${value}/`) || value.startsWith(`${path}/`)
}
