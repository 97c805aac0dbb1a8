/** Which views of a page are views of an article. */
import { sql } from '../platform/postgres/sql.ts'

/** Impressions of a URL count from the day its article was created; compares the column `day`. */
export const IS_ARTICLE_THERE = sql`day >= (article.datetime_created at time zone 'UTC')::date`
