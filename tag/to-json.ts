/**
 * Writes JSON that no script of the page can change
 * (docs/spec/links-and-tags.md#patched-built-ins).
 *
 * `JSON.stringify` calls every `toJSON` it finds. Prototype up to 1.6 adds one to arrays that
 * returns text instead of a list, and the service would reject each message.
 */

/**
 * Characters that a JSON string must escape; lone surrogates too, so that each text is valid UTF-8.
 */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/g
/** Finite numbers, true and false; null, undefined, NaN and Infinity become null. */
const PLAIN = /^-?\d|e$/

const HAS_OWN = {}.hasOwnProperty

/** Own properties only: a page may have extended `Object.prototype`. */
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
