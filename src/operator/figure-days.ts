/** The days that figures of lists cover. */
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'

/** Including today. */
const FIGURE_DAYS = 30

/** The first UTC day of the figures. */
export const firstFigureDay = (now: Date): string =>
  utcDay(now.getTime() - (FIGURE_DAYS - 1) * DAY_MS)
