/** Receivers of webhooks that verify the signature, as readers copy them. */
import type { Tab } from './code-tabs.ts'

/** A signature that is older may have been recorded and sent again. */
const TYPESCRIPT = `import { createHmac, timingSafeEqual } from 'node:crypto'

const SECRET = process.env.WEBHOOK_SECRET ?? ''
const MAX_AGE_SECONDS = 300

// headers: names in lower case. body: the exact bytes, before any JSON parser.
export function isFromSouk(headers: Record<string, string>, body: Uint8Array): boolean {
  const time = headers['x-souk-timestamp'] ?? ''
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= MAX_AGE_SECONDS)) return false
  const expected = createHmac('sha256', SECRET).update(time + '.').update(body).digest()
  const sent = Buffer.from(headers['x-souk-signature'] ?? '', 'hex')
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}`

const PYTHON = `import hashlib
import hmac
import os
import time

SECRET = os.environ["WEBHOOK_SECRET"].encode()
MAX_AGE_SECONDS = 300

# headers: names in lower case. body: the exact bytes, before any JSON parser.
def is_from_souk(headers: dict[str, str], body: bytes) -> bool:
    timestamp = headers.get("x-souk-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > MAX_AGE_SECONDS:
        return False
    expected = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, headers.get("x-souk-signature", ""))`

export const RECEIVERS = [
  { name: 'TypeScript', code: TYPESCRIPT },
  { name: 'Python', code: PYTHON },
] as const satisfies readonly Tab[]
