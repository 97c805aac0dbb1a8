/**
 * JSON text that no script of the page can spoil (docs/spec/links-and-tags.md#patched-built-ins).
 *
 * `JSON.stringify` calls every `toJSON` that it finds. Prototype up to 1.6 puts one on arrays, and
 * what it gives is no list any more: the service would refuse each message.
 */

/** What a JSON string may not hold; halves of characters too, so that each text is good UTF-8. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/g
/** Numbers with a value, true and false: of null, undefined, NaN and Infinity none is meant. */
const PLAIN = /^-?\d|e$/

const HAS_OWN = {}.hasOwnProperty

/** Only what a value holds itself counts: a page may have added to `Object.prototype`. */
export const toJson = (value: unknown): string => {
  if (typeof value === 'string') {
    return `"${value.replace(ESCAPED, (unit) => `\\u${(unit.charCodeAt(0) + 0x10000).toString(16).slice(1)}`)}"`
  }
  if (Object(value) !== value) return PLAIN.test(`${value}`) ? `${value}` : 'null'
  const isList = Array.isArray(value)
  let text = ''
  for (const name in value as object) {
    const item = (value as Record<string, unknown>)[name]
    if (!HAS_OWN.call(value, name) || item === undefined) continue
    text += `,${isList ? '' : `${toJson(name)}:`}${toJson(item)}`
  }
  text = text.slice(1)
  return isList ? `[${text}]` : `{${text}}`
}
