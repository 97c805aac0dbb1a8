/** An exact amount in a list: cents stand below cents, and what is less than one is small print. */
import { dollars } from '../format.ts'

export function Amount({ value, room }: { value: string; room: Room }) {
  const text = dollars(value)
  const end = text.indexOf('.') + 1 + CENTS_DIGITS
  return (
    <>
      {text.slice(0, end)}
      <span className={`inline-block text-left font-normal text-soft ${room}`}>
        {text.slice(end)}
      </span>
    </>
  )
}

const CENTS_DIGITS = 2
/** For the digits behind the cents, of which micro-dollars have four. */
const ROOMS = ['', 'sm:min-w-[1ch]', 'sm:min-w-[2ch]', 'sm:min-w-[3ch]', 'sm:min-w-[4ch]'] as const
export type Room = (typeof ROOMS)[number]

/** The room that the longest of these amounts takes behind its cents. */
export function roomFor(amounts: readonly string[]): Room {
  const digits = amounts.map((amount) => amount.split('.')[1]?.length ?? 0)
  return ROOMS[Math.max(CENTS_DIGITS, ...digits) - CENTS_DIGITS] ?? ''
}
