/**
 * The response envelope: `{info, data}` and, on failure, `error`. See
 * docs/spec/interface.md#errors.
 */
import Type, { type TSchema } from 'typebox'
import type { ApiError } from '../errors/api-errors.ts'

/** The schema of a successful response whose `data` holds entries of this shape. */
export function envelope<T extends TSchema>(entry: T) {
  return Type.Object({
    info: Type.Object({ error: Type.Boolean(), status: Type.Integer() }),
    data: Type.Array(entry),
  })
}

/** A successful response: `ok(201, link)`. */
export function ok<T>(status: number, ...data: T[]) {
  return { info: { error: false, status }, data }
}

export const ErrorEnvelope = Type.Object(
  {
    info: Type.Object({ error: Type.Boolean(), status: Type.Integer() }),
    data: Type.Array(Type.Unknown()),
    error: Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      data: Type.Unknown(),
    }),
  },
  { description: 'Refused or failed: `error.code` and `error.message` say why' },
)

export function failure(error: Pick<ApiError, 'status' | 'code' | 'message' | 'data'>) {
  return {
    info: { error: true, status: error.status },
    data: [],
    error: { code: error.code, message: error.message, data: error.data },
  }
}
