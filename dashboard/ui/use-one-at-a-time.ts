/** Prevents a form from being submitted twice at once. */
import { useRef } from 'react'

/**
 * A held key or a double click submits a form again before it is redrawn, which would create a
 * second API key that nobody sees. Resolves to whether the request succeeded. The mutation reports
 * errors.
 */
export function useOneAtATime<T>(send: (wanted: T) => Promise<unknown>) {
  const isSending = useRef(false)
  return async (wanted: T): Promise<boolean> => {
    if (isSending.current) return false
    isSending.current = true
    try {
      await send(wanted)
      return true
    } catch {
      return false
    } finally {
      isSending.current = false
    }
  }
}
