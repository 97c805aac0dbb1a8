/** HTML templates: values are escaped, unless they are HTML already. */
export interface Html {
  readonly html: string
}

type Value = Html | string | number | null | undefined | readonly Value[]

/** html`<p>${text}</p>`; lists are concatenated, null is empty. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.reduce((text, part, at) => text + write(values[at - 1]) + part) }
}

function write(value: Value): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value))
  return 'html' in value ? value.html : value.map(write).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
