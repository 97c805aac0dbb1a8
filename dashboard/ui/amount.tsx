/** An exact amount in a list: cents stand below cents, and what is less than one is small print. */
import { dollars } from '../format.ts'

/** Room is left by padding, not by a box: of two boxes a reader hears two numbers. */
export function Amount({ value, room }: { value: string; room: Room }) {
  const text = dollars(value)
  const end = text.indexOf('.') + 1 + CENTS_DIGITS
  const rest = text.slice(end)
  return (
    <>
      {text.slice(0, end)}
      <span className={`font-normal text-soft ${ROOMS[room - rest.length] ?? ''}`}>{rest}</span>
    </>
  )
}

const CENTS_DIGITS = 2
/** For the digits behind the cents that others have, of which micro-dollars have four. */
const ROOMS = ['', 'sm:pr-[1ch]', 'sm:pr-[2ch]', 'sm:pr-[3ch]', 'sm:pr-[4ch]'] as const
/** How many digits behind the cents there is room for. */
export type Room = number

/** The room that the longest of these amounts takes behind its cents. */
export function roomFor(amounts: readonly string[]): Room {
  const digits = amounts.map((amount) => amount.split('.')[1]?.length ?? 0)
  return Math.max(CENTS_DIGITS, ...digits) - CENTS_DIGITS
}
