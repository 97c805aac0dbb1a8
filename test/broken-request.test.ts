/** A request that never arrives whole is nobody's fault but its sender's. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { startApi } from './api.ts'

const logLines: string[] = []
const api = await startApi({ after }, { logLines, env: { LOG_LEVEL: 'info' } })
const { pubId } = await api.account({ is_partner: true })

test('a body that breaks off is not logged as a failure of ours', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1')
  const path = `/api/v1/publishers/${pubId}/linkmate/smart_links/`
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut\r\nContent-Length: 9\r\n\r\n{`,
  )
  const [request] = await once(api.app.http.server, 'request')
  const closed = once(request.socket, 'close')
  socket.destroy()
  await closed
  await api.call('/healthz')
  assert.deepEqual(
    logLines.filter((line) => JSON.parse(line).level >= 50),
    [],
  )
})
