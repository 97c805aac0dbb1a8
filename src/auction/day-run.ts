/** The ways to rerun a publisher's day, as messages to and from a thread. */
import { NoFillRun } from './no-fill.ts'
import type { NoFillReason, WhatIf } from './result-schema.ts'
import { type LoggedAuction, type WhatIfChange, WhatIfRun } from './what-if.ts'

export interface NoFillOfDay {
  readonly auctions: number // of the day, of which a sample may have been run
  readonly reasons: NoFillReason[]
  readonly totals: ReturnType<NoFillRun['totals']>
}

/** What each way returns. */
export interface DayReports {
  readonly whatIf: WhatIf
  readonly noFill: NoFillOfDay
}

export type DayRun =
  | { readonly kind: 'whatIf'; readonly change: WhatIfChange }
  | { readonly kind: 'noFill' }

interface Runner {
  add(logged: LoggedAuction & { readonly auctionId: string }): void
  report(): DayReports[keyof DayReports]
}

export function startDayRun(run: DayRun, auctions: number): Runner {
  if (run.kind === 'whatIf') return new WhatIfRun(run.change)
  const noFill = new NoFillRun()
  return {
    add: (logged) => noFill.add(logged),
    report: () => ({ auctions, reasons: noFill.report(), totals: noFill.totals() }),
  }
}
