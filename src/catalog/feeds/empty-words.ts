/** Words that programs write where there is nothing to say; see docs/spec/feeds.md#empty-words. */

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
  '#n/a',
  '#na',
  '#null!',
  '#ref!',
  '#value!',
  '#name?',
  '#div/0!',
  '#num!',
  '#error!',
  '#n/a n/a',
  'null null',
])
const LENGTH_MAX = 9
/** Such a word begins with one of these: a quick look that passes nearly every cell. */
const FIRST = /^["'\s]*[nu\\[{(<#–—-]/i

/** The text, or an empty one where it is only a word for nothing. */
export function withoutEmptyWord(text: string): string {
  if (text.length > LENGTH_MAX + 4 || !FIRST.test(text)) return text
  const word = text.trim().replace(/^(["'])(.*)\1$/, '$2')
  return EMPTY_WORDS.has(word.toLowerCase()) ? '' : text
}
