/** A free port of 127.0.0.1, for a program that needs its number in advance. */
import { freePort as freePortOf } from '../../src/platform/net/free-port.ts'

export const freePort = (): Promise<number> => freePortOf({ host: '127.0.0.1', port: 0 })
