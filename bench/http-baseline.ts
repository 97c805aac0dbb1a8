/** The baseline of bench/http.ts: a bare node:http server that returns fixed bytes. */
import { createServer } from 'node:http'

const { status, headers, body } = JSON.parse(process.env.BASELINE ?? '{}') as {
  status: number
  headers: Record<string, string>
  body: string
}
const server = createServer((req, res) => {
  const answer = () => {
    res.writeHead(status, headers)
    res.end(body)
  }
  if (req.method !== 'POST') return answer()
  req.on('data', () => undefined)
  req.on('end', answer)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`ready ${port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
