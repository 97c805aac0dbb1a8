/** Codes that move a cursor, colour, name the window, or turn the direction of what follows. */
const STEERING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu

/**
 * Text for a person's terminal, with what would steer it spelled out (`\u001b`): article names,
 * addresses and order ids come from anybody, and would else rewrite what the operator reads. In
 * JSON the spelling is an escape: whoever parses it gets the code itself.
 */
export function terminalText(text: string): string {
  return text.replaceAll(
    STEERING,
    (code) => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
