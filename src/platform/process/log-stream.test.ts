import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { LogStream } from './log-stream.ts'

const isLinux = process.platform === 'linux'
const PIPE_FILLING_LINES = 4_000
const END_MS = 60_000 // A blocked program stays blocked, so the exact time does not matter.

test('a full disk for the log neither blocks the program nor its end', {
  skip: !isLinux,
}, async () => {
  const full = openSync('/dev/full', 'w')
  assert.deepEqual(await runLogging({ stderr: full, end: '' }), ['goes on', 0, null])
  closeSync(full)
})

test('a log that nobody reads neither blocks the program nor its end', async () => {
  const end = 'setTimeout(() => process.exit(0), 1_500)'
  assert.deepEqual(await runLogging({ stderr: 'pipe', end }), ['goes on', 0, null])
})

test('lines logged just before the end are written', async () => {
  const lines = 'log.info("one"); log.info("two"); log.info("three"); process.exit(0)'
  const child = run(lines, 'pipe')
  let text = ''
  child.stderr?.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  assert.deepEqual(messagesOf(text).sort(), ['one', 'three', 'two'])
})

test('a log that recovers receives the queued lines and the number of lost ones', {
  // The stream retries every quarter of a second, and a pipe may hold only a page.
  timeout: 5 * END_MS,
}, async (t) => {
  if (!isLinux) return t.skip('no FIFO that takes nothing')
  const folder = await temporaryFolder(t, 'souk-log-')
  execFileSync('mkfifo', [join(folder, 'log')])
  const fd = openSync(join(folder, 'log'), constants.O_RDWR | constants.O_NONBLOCK)
  let lost = 0
  const onLost = (lines: number) => {
    lost += lines
  }
  const stream = new LogStream({ fd, onLost })
  const line = `${'x'.repeat(99)}\n`
  const written = 20_000 // About half of these fit into the queue.
  for (let number = 0; number < written; number += 1) stream.write(line)
  let text = ''
  const buffer = Buffer.alloc(65_536)
  while (text.length / line.length + lost < written) {
    text += buffer.toString('utf8', 0, readNow(fd, buffer))
    await sleep(10)
  }
  closeSync(fd)
  assert.ok(lost > 0)
  assert.equal(text, line.repeat(written - lost))
})

function readNow(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    throw error
  }
}

function messagesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).msg]))
}

/** Runs a program that logs more than a pipe holds, and reports how it ends. */
async function runLogging({ stderr, end }: { stderr: number | 'pipe'; end: string }) {
  const lines = `for (let n = 0; n < ${PIPE_FILLING_LINES}; n += 1) log.info({ n }, 'a line')`
  const child = run(
    `${lines}; setTimeout(() => process.stdout.write('goes on'), 100); ${end}`,
    stderr,
  )
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
  const { stdout } = child
  assert.ok(stdout)
  const [said, [code, signal]] = await Promise.all([text(stdout), once(child, 'exit')])
  clearTimeout(timer)
  child.stderr?.destroy()
  return [said, code, signal]
}

function run(program: string, stderr: number | 'pipe') {
  const imported = JSON.stringify(new URL('./log.ts', import.meta.url).href)
  const text = `import { makeLogger } from ${imported}; const log = makeLogger({ level: 'info' })`
  const args = ['--input-type=module-typescript', '--eval', `${text}\n${program}`]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', stderr] })
}
