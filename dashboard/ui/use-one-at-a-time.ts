/** A form's request, of which one is under way at most. */
import { useRef } from 'react'

/**
 * A key held down, or two clicks within a frame, submit a form again before it is drawn anew: a
 * second key would be made that nobody ever sees. Resolves to whether it was sent and taken; why
 * it was not, the mutation tells.
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
