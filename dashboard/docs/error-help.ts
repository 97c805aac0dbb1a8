/** For each error of the API: the remedy. */
import type { ErrorName } from '../../src/platform/errors/api-errors.ts'

export const ERROR_HELP: Readonly<Record<ErrorName, string>> = {
  badRequest:
    '`error.data` lists every fault as `field` and `rule`. Correct these fields and send the ' +
    'request again.',
  invalidApiKey:
    'Check that the key is complete, has not expired and is not disabled. Create another one in ' +
    'the dashboard under Developer options.',
  notLoggedIn:
    'Send an API key as `Authorization: SERVICE-API-KEY <key>`. In a browser, log in to the ' +
    'dashboard.',
  notYours:
    'Check the id in the URL. `GET /api/v1/me/` lists your organizations. A key for one ' +
    'organization works only for that one.',
  notPartner: 'Ask the operator of the network to add you to the partner program.',
  foreignOrigin:
    'A change with a session needs the header `X-Souk-Csrf` and a page of this service. A program ' +
    'uses an API key instead.',
  badSignature:
    'Sign the timestamp, a dot and the exact bytes of the body with your postback secret. Check ' +
    'your clock: it may be off by five minutes at most.',
  foreignPage:
    'Report the order from a page of one of the merchant’s domains, or sign it and send it from ' +
    'your server.',
  roleForbids:
    'The reference names the permission of each endpoint. Ask an owner of your organization for a ' +
    'role that has it, or use a key with that scope.',
  notFound: 'Check the path and the ids in it.',
  methodNotAllowed: 'Use a method that the reference lists for this path.',
  idempotencyConflict:
    'Use a new `Idempotency-Key` for a new creation. For a retry, send exactly the same body.',
  wrongState:
    'Read the record again. The message says which state prevents the change, for example an ' +
    'order that was decided before.',
  replayed:
    'Each signature works once. Sign again with a new timestamp. If the first request was ' +
    'answered, there is nothing to do.',
  stillAtWork:
    'The first request with this `Idempotency-Key` is still running. Retry after a second.',
  changedMeanwhile:
    'Somebody changed the record after you read it. Read it again, repeat your change, and send ' +
    'the new `etag` as `If-Match`.',
  tooLarge: 'Split the request. The limits of each endpoint are under Limits.',
  unsupportedMediaType: 'Send `Content-Type: application/json`, without compression.',
  rateLimited: 'Wait as many seconds as the header `Retry-After` says, then retry.',
  internal:
    'Retry later. If it fails again, send the operator the time and the header `X-Request-Id` of ' +
    'the answer.',
  unavailable:
    'Wait as many seconds as the header `Retry-After` says, then retry with the same ' +
    '`Idempotency-Key`.',
}
