/** A real JetStream server for tests, on a port that the system picks, in its own folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager, type StreamInfo, type StreamUpdateConfig } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from './certificate.ts'
import type { Scope } from './database.ts'
import { NATS_SERVER, needProgram } from './programs.ts'

const POLL_MS = 10

export interface Nats {
  readonly url: string
  /** kill -9. */
  kill(): Promise<void>
  /** Starts it again, on the same port and with its stored data. */
  restart(): Promise<void>
  /** Loses its streams, like a server with a new disk. */
  forget(): Promise<void>
  /** Deletes its streams while it runs, as an operator may. */
  deleteStreams(): Promise<void>
  /** Limits its streams to their present size, as an operator with little space may. */
  fillStreams(): Promise<void>
  /** Removes the installation's mark from its streams. */
  unmarkStreams(): Promise<void>
  /** Copies its stored data; `setBack` restores that copy. */
  backUp(): Promise<void>
  setBack(): Promise<void>
  /** The number of messages in all its streams. */
  countMessages(): Promise<number>
}

interface NatsOptions {
  readonly hasJetStream?: boolean
  readonly hasTls?: boolean
  /** Subjects that the user in its URL may not publish to. */
  readonly denied?: string
}

export async function startNats(
  scope: Scope,
  { hasJetStream = true, hasTls = false, denied }: NatsOptions = {},
): Promise<Nats> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-nats-'))
  const [store, copy] = [join(folder, 'store'), join(folder, 'copy')]
  const kind = [
    ...(hasJetStream ? ['--jetstream', '--store_dir', store] : []),
    ...(hasTls ? await tlsOptions(folder) : []),
    ...(denied === undefined ? [] : await userOptions(folder, denied)),
  ]
  let { child, port } = await start(folder, -1, kind)
  scope.after(async () => {
    await kill(child)
    await rm(folder, { recursive: true, force: true })
  })
  return {
    url: `${hasTls ? 'tls' : 'nats'}://${denied ? 'ann:word@' : ''}127.0.0.1:${port}`,
    kill: () => kill(child),
    async restart() {
      await kill(child)
      child = (await start(folder, port, kind)).child
    },
    async forget() {
      await kill(child)
      await rm(store, { recursive: true })
      child = (await start(folder, port, kind)).child
    },
    async deleteStreams() {
      const connection = await connect({ servers: `127.0.0.1:${port}` })
      const { streams } = await jetstreamManager(connection)
      for await (const { config } of streams.list()) await streams.delete(config.name)
      await connection.close()
    },
    fillStreams: () => changeStreams(port, ({ state }) => ({ max_bytes: state.bytes })),
    unmarkStreams: () => changeStreams(port, () => ({ description: '' })),
    async backUp() {
      await kill(child)
      await cp(store, copy, { recursive: true })
      child = (await start(folder, port, kind)).child
    },
    async setBack() {
      await kill(child)
      await rm(store, { recursive: true })
      await cp(copy, store, { recursive: true })
      child = (await start(folder, port, kind)).child
    },
    async countMessages() {
      const connection = await connect({ servers: `127.0.0.1:${port}` })
      const { streams } = await jetstreamManager(connection)
      let messages = 0
      for await (const { state } of streams.list()) messages += state.messages
      await connection.close()
      return messages
    },
  }
}

async function changeStreams(
  port: number,
  change: (info: StreamInfo) => Partial<StreamUpdateConfig>,
): Promise<void> {
  const connection = await connect({ servers: `127.0.0.1:${port}` })
  const { streams } = await jetstreamManager(connection)
  for await (const info of streams.list()) await streams.update(info.config.name, change(info))
  await connection.close()
}

async function userOptions(folder: string, denied: string): Promise<string[]> {
  const path = join(folder, 'users.json')
  const permissions = { publish: { deny: [denied] } }
  const users = [{ user: 'ann', password: 'word', permissions }]
  await writeFile(path, JSON.stringify({ authorization: { users } }))
  return ['--config', path]
}

async function tlsOptions(folder: string): Promise<string[]> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  await writeFile(certificate, LOOPBACK_CERTIFICATE)
  await writeFile(key, LOOPBACK_KEY)
  return ['--tls', '--tlscert', certificate, '--tlskey', key]
}

async function start(folder: string, wantedPort: number, kind: readonly string[]) {
  const portsFolder = await mkdtemp(join(folder, 'ports-'))
  const child = spawn(
    needProgram(NATS_SERVER),
    [
      ...kind,
      ...['--addr', '127.0.0.1', '--port', String(wantedPort), '--ports_file_dir', portsFolder],
    ],
    { stdio: 'ignore' },
  )
  while (true) {
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`)
    const [name] = await readdir(portsFolder)
    const text = name === undefined ? '' : await readFile(join(portsFolder, name), 'utf8')
    const address = /"(?:nats|tls):\/\/[^"]*:(\d+)"/.exec(text)?.[1]
    if (address !== undefined) return { child, port: Number(address) }
    await sleep(POLL_MS)
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
