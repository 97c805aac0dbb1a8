/** An exact amount in a list: cents stand below cents, and what is less than one is small print. */
import { dollars } from '../format.ts'

/** `haveParts`: some amount of the list has such parts, and so each holds room for them. */
export function Amount({ value, haveParts }: { value: string; haveParts: boolean }) {
  const text = dollars(value)
  const end = text.indexOf('.') + 1 + CENTS_DIGITS
  return (
    <>
      {text.slice(0, end)}
      <span
        className={haveParts ? 'inline-block text-left font-normal text-soft sm:min-w-[4ch]' : ''}
      >
        {text.slice(end)}
      </span>
    </>
  )
}

const CENTS_DIGITS = 2

/** Whether one of these amounts has parts of a cent. */
export function havePartsOfCents(amounts: readonly string[]): boolean {
  return amounts.some((amount) => (amount.split('.')[1]?.length ?? 0) > CENTS_DIGITS)
}
