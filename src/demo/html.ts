/** HTML as text with every value escaped, unless it is HTML already. */
export interface Html {
  readonly html: string
}

export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const text = parts.reduce((before, part, at) => before + render(values[at - 1]) + part)
  return { html: text }
}

export type HtmlValue = string | number | null | undefined | Html | readonly Html[]

function render(value: HtmlValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value))
  return 'html' in value ? value.html : value.map(({ html: part }) => part).join('')
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
