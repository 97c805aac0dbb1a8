/** Words that programs write for an empty value; see docs/spec/feeds.md#empty-words. */

const EMPTY_WORDS: ReadonlySet<string> = new Set([
  'nan',
  'nat',
  'na',
  'n/a',
  'n.a.',
  'n.a',
  'null',
  'nil',
  'none',
  'nonetype',
  'undefined',
  'unset',
  '\\n',
  '[]',
  '{}',
  '[null]',
  '(null)',
  '<null>',
  '(none)',
  '<none>',
  '<na>',
  '<nan>',
  '(empty)',
  '-',
  '--',
  '---',
  '–',
  '—',
  '(blank)',
  '#n/a',
  '#na',
  '#n/d',
  '#nv',
  '#nd',
  '#н/д',
  '#n/a n/a',
  'null null',
])

/** The other errors of spreadsheets, in the large languages; `###` is a column too narrow. */
const SPREADSHEET_ERROR = new RegExp(
  '^#(?:¡?(?:ref|value|div/0|num|null|error|spill|calc|bezug|wert|zahl|valeur|valor|valore|rif|' +
    'verw|waarde|adr|arg|ссылка|знач|число|дел/0)!|(?:name|nom|nombre|nome|naam|имя)\\?|##+)$',
  'iu',
)
const LENGTH_MAX = 9
/** Such a word starts with one of these: a fast check that passes nearly every cell. */
const FIRST = /^["'\s]*[nu\\[{(<#–—-]/i
/** Digits and letters but `n` and `u`: a faster check. */
const OTHER_FIRST = new Set('0123456789abcdefghijklmopqrstvwxyzABCDEFGHIJKLMOPQRSTVWXYZ')

/** The text, or an empty one when it is such a word. */
export function withoutEmptyWord(text: string): string {
  if (text === '' || text.length > LENGTH_MAX + 4 || OTHER_FIRST.has(text.charAt(0))) return text
  if (!FIRST.test(text)) return text
  const word = text.trim().replace(/^(["'])(.*)\1$/, '$2')
  return EMPTY_WORDS.has(word.toLowerCase()) || SPREADSHEET_ERROR.test(word) ? '' : text
}
