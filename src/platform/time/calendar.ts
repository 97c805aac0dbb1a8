/** Days (`2026-03-02`) and months (`2026-03`) of the calendar. */

export const nextMonth = (month: string): string =>
  Temporal.PlainYearMonth.from(month).add({ months: 1 }).toString()

export const previousMonth = (month: string): string =>
  Temporal.PlainYearMonth.from(month).subtract({ months: 1 }).toString()

/** The first instant after a month, in UTC. */
export const endOfMonth = (month: string): Date => new Date(`${nextMonth(month)}-01T00:00:00Z`)
