/**
 * A path to a folder's Unix socket that fits into a socket address.
 *
 * The system allows about a hundred bytes, and data directories can be deeper. The server binds its
 * socket by a relative name; clients use a link in the temporary folder.
 */
import { lutimes, mkdtemp, rm, symlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface SocketFolder {
  readonly path: string
  close(): Promise<void>
}

/** 107 on Linux, 103 on macOS and the BSDs; the smaller one, so that all behave alike. */
const SOCKET_PATH_BYTES_MAX = 103
const SOCKET = '.s.PGSQL.65535'
const REFRESH_MS = 3_600_000 // Systems delete temporary files that were not touched for days.

/** `folder` itself if its path is short enough, else a link to it for this process. */
export async function openSocketFolder(folder: string): Promise<SocketFolder> {
  if (fits(join(folder, SOCKET))) return { path: folder, close: async () => undefined }
  const path = join(
    await mkdtemp(join(shortTemporaryFolder(`souk-XXXXXX/s/${SOCKET}`), 'souk-')),
    's',
  )
  await symlink(folder, path, 'dir')
  const refresh = setInterval(() => {
    const now = new Date()
    // A failed refresh does no harm now, and the next one may work.
    Promise.all([lutimes(path, now, now), utimes(dirname(path), now, now)]).catch(() => undefined)
  }, REFRESH_MS)
  refresh.unref()
  return {
    path,
    close: async () => {
      clearInterval(refresh)
      await rm(dirname(path), { recursive: true, force: true })
    },
  }
}

/** The temporary folder, or the system's default if this socket's path in it would be too long. */
export function shortTemporaryFolder(socket: string): string {
  return fits(join(tmpdir(), socket)) ? tmpdir() : '/tmp'
}

function fits(socketPath: string): boolean {
  return Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX
}
