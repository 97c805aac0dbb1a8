/** Explains in terms of the configuration why the service cannot listen. */
import { type Config, ConfigError } from '../node/config.ts'

const PORT_UNPRIVILEGED_MIN = 1024

/** The error to exit with; the given one if the address is not the problem. */
export function listenProblem({ host, port }: Pick<Config, 'host' | 'port'>, error: unknown) {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ConfigError([`PORT: another program listens on port ${port} of ${host}`])
    case 'EACCES':
      return new ConfigError([
        `PORT: this user may not listen on ${port}; take one from ${PORT_UNPRIVILEGED_MIN} on`,
      ])
    case 'EADDRNOTAVAIL':
    case 'EINVAL': // A link-local address without its interface; fe80::1%eth0 names one.
    case 'EAFNOSUPPORT': // A system without IPv6.
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError([`HOST: "${host}" is no address of this machine`])
    default:
      return error
  }
}

/** The URL to show to people: with this machine's name, unless only another address listens. */
export function reachableUrl(host: string, port: number): string {
  const isLocal = ['0.0.0.0', '::', 'localhost', '127.0.0.1'].includes(host)
  if (isLocal) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
