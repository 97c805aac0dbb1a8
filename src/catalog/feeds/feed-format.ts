/** The formats that an operator may say a feed has; `auto` leaves it to its first character. */
export const FEED_FORMATS = ['auto', 'csv', 'tsv', 'jsonl', 'xml'] as const
export type FeedFormat = (typeof FEED_FORMATS)[number]
