/** Snippets of tag/README.md by platform, with a publisher's own values filled in. Pure. */

export interface OwnValues {
  readonly serviceUrl: string
  /** Where smart links live; null while unknown, then snippets that need it are left out. */
  readonly linkUrl: string | null
  readonly slug: string
}

export interface Snippet {
  readonly name: string
  readonly label: string
  /** Where it belongs. */
  readonly note: string
  readonly code: string
}

const PLATFORMS: readonly Omit<Snippet, 'code'>[] = [
  { name: 'html', label: 'HTML', note: 'Anywhere in each page, best in the head.' },
  {
    ...{ name: 'tag-manager', label: 'Tag manager' },
    note: 'As a custom HTML tag, fired on every page view.',
  },
  { name: 'wordpress', label: 'WordPress', note: 'In the theme’s functions.php, or in a plugin.' },
  { name: 'react', label: 'React, Next', note: 'Once, in the root of the application.' },
  {
    ...{ name: 'amp', label: 'AMP' },
    note: 'The first element belongs in the head, the second in the body.',
  },
]

export function tagSnippets(readme: string, own: OwnValues): readonly Snippet[] {
  return PLATFORMS.flatMap((platform) => {
    const code = codeOf(readme, platform.name)
    if (code === null || (own.linkUrl === null && code.includes(LINK))) return []
    return [{ ...platform, code: filled(code, own) }]
  })
}

const SERVICE = 'https://souk.example'
const LINK = 'https://link.example'
/** The same in a regular expression of the AMP snippet, inside of a JSON string. */
const LINK_PATTERN = 'https://link\\\\.example'

function codeOf(readme: string, name: string): string | null {
  const block = new RegExp(`<!-- snippet: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``)
  return block.exec(readme)?.[1]?.trimEnd() ?? null
}

function filled(code: string, { serviceUrl, linkUrl, slug }: OwnValues): string {
  const link = linkUrl ?? LINK
  return code
    .replaceAll(SERVICE, () => serviceUrl)
    .replaceAll(LINK_PATTERN, () => link.replaceAll('.', '\\\\.'))
    .replaceAll(LINK, () => link)
    .replaceAll('YOUR-SLUG', () => slug)
}
