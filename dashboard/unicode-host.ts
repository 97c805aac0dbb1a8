/**
 * International host names in their own letters. Browsers show them so but offer no function for it
 * (RFC 3492: Punycode).
 */

const BASE = 36
const DIGIT_MIN = 1
const DIGIT_MAX = 26
const SKEW = 38
const DAMP = 700
const FIRST_BIAS = 72
const FIRST_CODE = 0x80
const CODE_MAX = 0x10ffff

/** `xn--bcher-kva.example` → `bücher.example`; a label that cannot be decoded stays. */
export function unicodeHost(host: string): string {
  return host.replace(/(?<=^|\.)xn--([a-z0-9-]+)/g, (label, word: string) => decode(word) ?? label)
}

function decode(word: string): string | null {
  const split = word.lastIndexOf('-')
  const letters = split > 0 ? [...word.slice(0, split)] : []
  let [code, index, bias, at] = [FIRST_CODE, 0, FIRST_BIAS, split > 0 ? split + 1 : 0]
  if (at === word.length) return null // ASCII only: no punycode.
  while (at < word.length) {
    const before = index
    let weight = 1
    for (let place = BASE; ; place += BASE) {
      const digit = digitOf(word[at++])
      if (digit === null) return null
      index += digit * weight
      const threshold = Math.min(DIGIT_MAX, Math.max(DIGIT_MIN, place - bias))
      if (digit < threshold) break
      weight *= BASE - threshold
    }
    const count = letters.length + 1
    bias = adapt(index - before, { count, isFirst: before === 0 })
    code += Math.floor(index / count)
    index %= count
    if (code > CODE_MAX) return null
    letters.splice(index++, 0, String.fromCodePoint(code))
  }
  return letters.join('')
}

/** `a` to `z` are 0 to 25, `0` to `9` are 26 to 35. */
function digitOf(character: string | undefined): number | null {
  if (character === undefined || character === '-') return null
  const value = Number.parseInt(character, BASE)
  return value < 10 ? value + 26 : value - 10
}

function adapt(delta: number, { count, isFirst }: { count: number; isFirst: boolean }): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2))
  rest += Math.floor(rest / count)
  let places = 0
  while (rest > ((BASE - DIGIT_MIN) * DIGIT_MAX) / 2) {
    rest = Math.floor(rest / (BASE - DIGIT_MIN))
    places += BASE
  }
  return places + Math.floor(((BASE - DIGIT_MIN + 1) * rest) / (rest + SKEW))
}
