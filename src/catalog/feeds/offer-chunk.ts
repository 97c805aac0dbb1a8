/** What one transaction of an import writes, as it gathers: rows of COPY text, already as bytes. */
import type { OfferChunk } from './offer-store.ts'

const PIECE_CHARACTERS = 65_536

export class Chunk {
  rows = 0
  readonly #added = new Lines()
  readonly #changed = new Lines()
  readonly #endedOfferIds: number[] = []

  add(line: string): void {
    this.#added.push(line)
    this.rows++
  }

  change(line: string): void {
    this.#changed.push(line)
  }

  end(offerId: number): void {
    this.#endedOfferIds.push(offerId)
    this.rows++
  }

  finish(): OfferChunk {
    const [added, changed] = [this.#added.finish(), this.#changed.finish()]
    return { added, changed, endedOfferIds: this.#endedOfferIds }
  }
}

/** Lines as bytes in pieces of useful size: strings would take twice the memory, one by one. */
class Lines {
  readonly #pieces: Buffer[] = []
  #text = ''

  push(line: string): void {
    this.#text += line
    if (this.#text.length >= PIECE_CHARACTERS) this.#cut()
  }

  finish(): readonly Buffer[] {
    if (this.#text !== '') this.#cut()
    return this.#pieces
  }

  #cut(): void {
    this.#pieces.push(Buffer.from(this.#text))
    this.#text = ''
  }
}
