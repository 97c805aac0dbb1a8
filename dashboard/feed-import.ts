/** Imports of a feed, as the pages read them. */
import type { FeedImport } from './merchant-api.ts'

/** Our fields, each with the name of the column that has it; absent: found by its name. */
export type ColumnMap = Readonly<Record<string, readonly string[] | undefined>>

export const isRunning = ({ state }: FeedImport): boolean => state !== 'done' && state !== 'failed'

export const rejectedOf = ({ rejected }: Pick<FeedImport, 'rejected'>): number =>
  Object.values(rejected).reduce<number>((sum, of) => sum + (of ?? 0), 0)
