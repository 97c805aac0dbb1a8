/** Deletes however much there is to forget, in transactions that stay short. */

/** Some tenths of a second each: nobody who waits for a row waits long. */
const BATCH_ROWS = 10_000

/** Repeats a delete of at most `limit` rows until it finds fewer; how many rows went. */
export async function deleteInBatches(remove: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0
  for (;;) {
    const rows = await remove(BATCH_ROWS)
    deleted += rows
    if (rows < BATCH_ROWS) return deleted
  }
}
