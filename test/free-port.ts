/** A port of 127.0.0.1 that nobody listens on, for a program that takes a number. */
import { freePort as freePortOf } from '../src/platform/free-port.ts'

export const freePort = (): Promise<number> => freePortOf({ host: '127.0.0.1', port: 0 })
