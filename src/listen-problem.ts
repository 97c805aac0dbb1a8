/** Why the service cannot listen where it should: in the words of the configuration. */
import { type Config, ConfigError } from './config.ts'

const PORT_UNPRIVILEGED_MIN = 1024

/** The error to end with; the given one when the address is not what is wrong. */
export function listenProblem({ host, port }: Pick<Config, 'host' | 'port'>, error: unknown) {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ConfigError([`PORT: another program listens on port ${port} of ${host}`])
    case 'EACCES':
      return new ConfigError([
        `PORT: this user may not listen on ${port}; take one from ${PORT_UNPRIVILEGED_MIN} on`,
      ])
    case 'EADDRNOTAVAIL':
    case 'EINVAL': // A link-local address that does not say of which link: fe80::1%eth0 does.
    case 'EAFNOSUPPORT': // A system without IPv6.
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError([`HOST: "${host}" is no address of this machine`])
    default:
      return error
  }
}

/** The address to tell people: what this machine calls itself, unless only another one answers. */
export function reachableUrl(host: string, port: number): string {
  const isLocal = ['0.0.0.0', '::', 'localhost', '127.0.0.1'].includes(host)
  if (isLocal) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
