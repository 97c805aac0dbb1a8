/** `fetch` without a network, for parts without a browser: it answers when the test says so. */
import type { TestContext } from 'node:test'

type Sent = RequestInit & { url: string; answer: (status: number) => void }

export function holdFetches(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: Sent[] = []
  t.mock.method(globalThis, 'fetch', (url: string, init: RequestInit) => {
    return new Promise<Response>((resolve, reject) => {
      const answer = (status: number) =>
        status === 0 ? reject(new TypeError('offline')) : resolve(Response.json({}, { status }))
      sent.push({ ...init, url, answer })
    })
  })
  const after = async (ms: number) => {
    t.mock.timers.tick(ms)
    await new Promise(setImmediate)
  }
  /** Answers the latest request and resumes its caller. 0: it never arrived. */
  const answer = async (status: number) => {
    sent.at(-1)?.answer(status)
    await after(0)
    await after(0)
  }
  return { sent, after, answer }
}
