/** Parses JSON from bytes, or returns the rule that they break. */

const utf8 = new TextDecoder('utf-8', { fatal: true })

type Reviver = (this: unknown, key: string, value: unknown) => unknown

export function decodeJson(
  body: Uint8Array,
  reviverOf: (text: string) => Reviver | undefined = () => undefined,
): { readonly value: unknown } | { readonly rule: string } {
  try {
    const text = utf8.decode(body)
    return { value: JSON.parse(text, reviverOf(text)) }
  } catch (error) {
    return { rule: whyUnreadable(error) }
  }
}

function whyUnreadable(error: unknown): string {
  if (error instanceof TypeError) return 'is not valid UTF-8'
  // The reviver recurses at every level, so deep nesting overflows the stack.
  return error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON'
}
