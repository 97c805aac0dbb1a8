import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { signBody } from '../../src/orders/signed-request.ts'
import { RECEIVERS } from './webhook-receivers.ts'

const RUN = {
  TypeScript: {
    program: [process.execPath, '--input-type=module-typescript', '--eval'],
    call: (headers: string, body: string) =>
      `console.log(isFromSouk(${headers}, Buffer.from(${JSON.stringify(body)})))`,
  },
  Python: {
    program: ['python3', '-c'],
    call: (headers: string, body: string) =>
      `print(str(is_from_souk(${headers}, ${JSON.stringify(body)}.encode())).lower())`,
  },
} as const

for (const { name, code } of RECEIVERS) {
  const { program, call } = RUN[name]
  const isMissing = spawnSync(program[0], ['--version']).status !== 0
  const skip = isMissing && `no ${program[0]}`
  test(`the receiver in ${name} accepts a signed delivery and no altered one`, { skip }, () => {
    const time = String(Math.floor(Date.now() / 1000))
    const body = '{"event":"payout.ready"}'
    const signature = signBody('secret', time, Buffer.from(body)).toString('hex')
    const headers = JSON.stringify({ 'x-souk-timestamp': time, 'x-souk-signature': signature })
    const script = `${code}\n${call(headers, body)}\n${call(headers, `${body} `)}`
    const [file, ...options] = program
    const env = { ...process.env, WEBHOOK_SECRET: 'secret' }
    const { stdout, stderr } = spawnSync(file, [...options, script], { encoding: 'utf8', env })
    assert.equal(stdout, 'true\nfalse\n', stderr)
  })
}
