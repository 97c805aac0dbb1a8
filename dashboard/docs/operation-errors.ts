/**
 * The errors that an endpoint can answer, derived from its description: its caller, its
 * parameters and its body.
 */
import { ERRORS, type ErrorName } from '../../src/platform/errors/api-errors.ts'
import { hasHeader, isSigned, needsKey, type Operation } from './api-description.ts'

export function errorsOf(operation: Operation): ErrorName[] {
  const { parameters = [], requestBody, security = [], place } = operation
  const permission = operation['x-permission'] ?? null
  const ids = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
  const isOfOrganization = ids.some((name) => name === 'pub_id' || name === 'merch_id')
  const isKeyed = security.length > 0
  const isChange = security.some((one) => 'session' in one) && place.method !== 'GET'
  const possible: Readonly<Record<ErrorName, boolean>> = {
    badRequest: parameters.length > 0 || requestBody !== undefined,
    invalidApiKey: isKeyed,
    notLoggedIn: needsKey(operation),
    badSignature: isSigned(operation),
    notYours: isKeyed && isOfOrganization,
    notPartner: ['retrieveSmartLinks', 'matchProduct'].includes(operation.operationId),
    roleForbids: permission !== null,
    foreignOrigin: isChange,
    foreignPage: operation.operationId === 'reportCheckout',
    notFound: ids.length > 0,
    methodNotAllowed: false, // Of a path, not of an endpoint.
    idempotencyConflict: hasHeader(operation, 'idempotency-key'),
    wrongState: isChange,
    stillAtWork: hasHeader(operation, 'idempotency-key'),
    replayed: isSigned(operation),
    changedMeanwhile: hasHeader(operation, 'if-match'),
    tooLarge: requestBody !== undefined,
    unsupportedMediaType: requestBody !== undefined,
    rateLimited: true,
    internal: true,
    unavailable: true,
  }
  return Object.keys(ERRORS)
    .filter((name): name is ErrorName => possible[name as ErrorName])
    .toSorted((one, other) => ERRORS[one].code - ERRORS[other].code)
}
