/** Ids of headings, as GitHub forms them, so that links between Markdown files stay valid. */
export class HeadingIds {
  readonly #used = new Map<string, number>()

  next(heading: string): string {
    const id = heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = this.#used.get(id) ?? 0
    this.#used.set(id, count + 1)
    return count === 0 ? id : `${id}-${count}`
  }
}
