/** An exact amount in a list. Cents align, and digits after the cents are in small print. */
import { dollars } from '../format.ts'

/** Padding aligns the amounts. With separate boxes a screen reader would read two numbers. */
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
/** By the number of digits after the cents that other rows have (micro-dollars have four). */
const ROOMS = ['', 'sm:pr-[1ch]', 'sm:pr-[2ch]', 'sm:pr-[3ch]', 'sm:pr-[4ch]'] as const
/** The number of digits after the cents to leave room for. */
export type Room = number

/** The room that the longest of these amounts needs after its cents. */
export function roomFor(amounts: readonly string[]): Room {
  const digits = amounts.map((amount) => amount.split('.')[1]?.length ?? 0)
  return Math.max(CENTS_DIGITS, ...digits) - CENTS_DIGITS
}
