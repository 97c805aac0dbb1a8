/**
 * A list entry for a click, order or return: time, title, reason, amount, and a link to its
 * receipt.
 */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { date, time } from '../format.ts'
import { PATHS } from '../paths.ts'
import { Amount, type Room } from './amount.tsx'
import { Parts } from './parts.tsx'

export function MoneyLine(props: {
  readonly at: string
  /** Names in the title have their own writing direction. */
  readonly title: ReactNode
  /** Small print beside the title. Unknown parts are left out. */
  readonly details: readonly (string | null)[]
  readonly verdict: string
  /** False if it earns nothing; the verdict says why. */
  readonly isGood: boolean
  readonly earnings: string
  /** The room that the longest amount of the list needs. */
  readonly room: Room
  /** The auction result of the receipt; null without a receipt. */
  readonly result: string | null
}) {
  const { at, isGood } = props
  return (
    // On a wide screen one line, so that a hundred entries stay readable.
    <li className="grid grid-cols-1 gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[7rem_1fr_auto] sm:items-start xl:grid-cols-[10rem_minmax(0,4fr)_minmax(0,3fr)_minmax(0,4fr)_5.5rem_3.25rem] xl:items-baseline xl:gap-x-3 xl:py-1.5">
      <p className="number text-sm text-soft xl:text-xs xl:whitespace-nowrap">
        <time dateTime={at}>
          {time(at)} UTC <span className="block max-sm:inline xl:inline">{date(at)}</span>
        </time>
      </p>
      <div className="min-w-0 xl:contents">
        <p className="font-medium xl:truncate xl:text-[0.8125rem]">{props.title}</p>
        {/*
         * Each part is truncated at its own end. The first part, such as an amount, is truncated
         * last.
         */}
        <p className="flex gap-x-1 overflow-hidden text-sm text-soft xl:text-[0.8125rem] *:truncate *:first:max-w-full *:first:shrink-0">
          <Parts of={props.details} />
        </p>
        <p
          className={`mt-1 text-sm xl:mt-0 xl:text-[0.8125rem] ${isGood ? 'text-soft' : 'text-bad'}`}
        >
          {props.verdict}
        </p>
      </div>
      <div className="flex items-baseline justify-between gap-4 sm:block sm:text-right xl:contents">
        <p className={`number font-semibold xl:text-right xl:text-sm ${isGood ? '' : 'text-soft'}`}>
          <Amount value={props.earnings} room={props.room} />
        </p>
        {props.result !== null && (
          <Link to={PATHS.receipt} params={{ result: props.result }} className="link text-sm">
            Receipt
          </Link>
        )}
      </div>
    </li>
  )
}
