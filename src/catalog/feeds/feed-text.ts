/**
 * Determines the character encoding of a feed.
 *
 * A byte order mark or an XML declaration decides. Otherwise a feed is read as ASCII until the
 * first other byte. If the rest is mostly valid UTF-8 it is UTF-8, else the charset of its server,
 * else Windows-1252 (which contains Latin-1). Waiting for that byte makes a streamed guess safe,
 * and a few invalid bytes affect only themselves.
 */
import { isAscii } from 'node:buffer'

export interface FeedDecoder {
  /** The text of the next bytes; a character cut by the end of `bytes` waits for the rest. */
  decode(bytes: Buffer): string
  /** The rest at the end of the feed. */
  end(): string
}

type Charset = 'undecided' | 'utf-8' | { readonly decoder: TextDecoder }

const NOTHING: Buffer = Buffer.alloc(0)
const LATIN = 'windows-1252'
/** This many invalid bytes say nothing about later ones. */
const FEW_FAULTS = 3

/**
 * Decodes one feed from its first byte on; byte order marks are left out. The server's charset
 * ranks behind the bytes, because many servers name the same one for every file.
 */
export function feedDecoder(servedAs?: string): FeedDecoder {
  let guess = decoderOf(servedAs) ?? new TextDecoder(LATIN)
  let charset: Charset | null = null
  let waiting = NOTHING
  return {
    decode(bytes) {
      let all = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
      waiting = NOTHING
      if (charset === null) {
        const start = declaredCharset(all)
        charset = start.charset
        guess = start.guess ?? guess
        all = all.subarray(start.skipBytes)
      }
      if (typeof charset === 'object') return charset.decoder.decode(all, { stream: true })
      if (isAscii(all)) return all.toString('latin1')
      const cut = unfinishedBytes(all)
      const whole = all.subarray(0, all.length - cut)
      waiting = all.subarray(whole.length)
      // With only the start of one character so far, the next bytes decide.
      if (charset === 'undecided' && !isAscii(whole)) {
        const { characters, faults } = countUtf8(whole)
        if (characters < faults) {
          if (guess.encoding !== LATIN || faults > FEW_FAULTS) charset = { decoder: guess }
          return guess.decode(whole, { stream: true })
        }
        charset = 'utf-8'
      }
      return whole.toString('utf8')
    },
    end() {
      if (charset !== null && typeof charset === 'object') return charset.decoder.decode(waiting)
      return charset === 'undecided' ? guess.decode(waiting) : waiting.toString('utf8')
    },
  }
}

interface Declared {
  readonly charset: Charset
  readonly skipBytes: number
  /** The charset if it is not UTF-8. */
  readonly guess?: TextDecoder
}

function declaredCharset(start: Buffer): Declared {
  const [b0, b1, b2, b3] = start
  if (b0 === 0xef && b1 === 0xbb && b2 === 0xbf) return { charset: 'utf-8', skipBytes: 3 }
  const utf16 = (label: string, skipBytes: number) => ({
    charset: { decoder: new TextDecoder(label) },
    skipBytes,
  })
  if (b0 === 0xff && b1 === 0xfe) return utf16('utf-16le', 2)
  if (b0 === 0xfe && b1 === 0xff) return utf16('utf-16be', 2)
  // Every format starts with ASCII, which UTF-16 writes with a zero beside each character.
  if (b0 !== 0 && b1 === 0 && b2 !== 0 && b3 === 0) return utf16('utf-16le', 0)
  if (b0 === 0 && b1 !== 0 && b2 === 0 && b3 !== 0) return utf16('utf-16be', 0)
  const declared = /^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/i.exec(
    start.subarray(0, 200).toString('latin1'),
  )?.[1]
  const guess = decoderOf(declared)
  if (guess === null) return { charset: 'undecided', skipBytes: 0 }
  // The bytes decide between this charset and UTF-8: tools name one and write the other.
  const charset = guess.encoding === LATIN ? 'undecided' : { decoder: guess }
  return { charset, guess, skipBytes: 0 }
}

/** Null: an unknown name, or one for which the bytes decide. */
function decoderOf(name: string | undefined): TextDecoder | null {
  try {
    const decoder = new TextDecoder(name)
    // A declaration read as ASCII cannot be in UTF-16; some tools leave it when they convert.
    return decoder.encoding.startsWith('utf-') ? null : decoder
  } catch {
    return null
  }
}

/**
 * A title that a tool has cut inside a character must not garble all the others. One valid
 * character outweighs one fault: other charsets rarely contain one by accident.
 */
function countUtf8(bytes: Buffer): { characters: number; faults: number } {
  const text = bytes.toString('utf8')
  const runs = text.match(/\ufffd+/g) ?? []
  // One changed or added byte in a character leaves up to four faults in a row.
  const isOneByte = runs.length === 1 && (runs[0]?.length ?? 0) <= 4
  const faults = isOneByte ? 1 : runs.reduce((sum, { length }) => sum + length, 0)
  return { characters: text.match(/[^\0-\x7f\ufffd]/gu)?.length ?? 0, faults }
}

/** The number of bytes at the end that start an incomplete UTF-8 character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? back : 0
    }
  }
  return 0
}
