/** Codes that move the cursor, set colours or the title, or change the text direction. */
const STEERING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu

/**
 * Text for a person's terminal, with control codes spelled out (`\u001b`). Article names, URLs and
 * order ids come from third parties and could otherwise rewrite what the operator reads. In JSON
 * the spelling is an escape, so a parser gets the code itself.
 */
export function terminalText(text: string): string {
  return text.replaceAll(
    STEERING,
    (code) => `\\u${code.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
