/** An article that somebody pastes. */

export const KINDS = [
  { value: 'html', label: 'HTML' },
  { value: 'text', label: 'Text' },
  { value: 'urls', label: 'List of URLs' },
] as const

export interface Draft {
  readonly kind: (typeof KINDS)[number]['value']
  readonly text: string
  readonly name: string
  readonly url: string
}

export const BLANK: Draft = { kind: 'html', text: '', name: '', url: '' }
