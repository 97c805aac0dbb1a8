/**
 * Renders a Markdown document of the repository as the content of a page. HTML in a document is
 * not rendered.
 */
import { Marked, type MarkedExtension, type Token, type Tokens } from 'marked'
import { type Html, html } from '../../src/platform/text/html.ts'
import { codeBlock, withOwnWords } from './code-block.ts'
import { HeadingIds } from './heading-id.ts'
import type { Heading, Section } from './page.ts'

export interface MarkdownOptions {
  /** The page that a link leads to; null leaves only its text. */
  readonly resolve: (href: string) => string | null
  /** Renders a code block of this language instead of the usual way; null: the usual way. */
  readonly renderBlock?: (language: string, code: string) => Html | null
}

export interface Document {
  readonly title: string
  readonly body: Html
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
}

export function renderMarkdown(source: string, options: MarkdownOptions): Document {
  const headings = new Map<Token, Heading>()
  const marked = new Marked(rendererFor(headings, options))
  const tokens = marked.lexer(source)
  const ids = new HeadingIds()
  for (const token of tokens) {
    if (!isHeading(token)) continue
    const text = plainText(token.tokens)
    headings.set(token, { id: ids.next(text), text, depth: token.depth })
  }
  const [first] = headings.values()
  const title = first?.depth === 1 ? first.text : ''
  const rest = tokens.filter((token) => headings.get(token)?.depth !== 1)
  return {
    title,
    body: { html: marked.parser(rest) },
    headings: [...headings.values()].filter(({ depth }) => depth > 1),
    sections: sectionsOf(rest, headings, title),
  }
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading'

function rendererFor(
  headings: ReadonlyMap<Token, Heading>,
  { resolve, renderBlock = () => null }: MarkdownOptions,
): MarkedExtension {
  return {
    renderer: {
      heading(token) {
        const { id, depth } = headings.get(token) ?? { id: '', depth: token.depth }
        return titleLine(id, depth, { html: this.parser.parseInline(token.tokens) }).html
      },
      code({ text, lang = '' }) {
        const [language = ''] = lang.split(' ')
        return (renderBlock(language, text) ?? codeBlock(text)).html
      },
      codespan({ text }) {
        const page = /^[\w/.-]+\.md(#[\w-]+)?$/.test(text) ? resolve(`/${text}`) : null
        const code = html`<code>${withOwnWords(text)}</code>`
        return page === null ? code.html : html`<a class="link" href="${page}">${code}</a>`.html
      },
      link({ href, tokens }) {
        const words = { html: this.parser.parseInline(tokens) }
        const page = resolve(href)
        return page === null ? words.html : html`<a class="link" href="${page}">${words}</a>`.html
      },
      image: ({ text }) => html`${text}`.html,
      html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : html`${text}`.html),
      table(token) {
        const rows = token.rows.map((cells) =>
          cells.map(({ tokens }) => this.parser.parseInline(tokens)),
        )
        const heads = token.header.map(({ tokens }) => this.parser.parseInline(tokens))
        return tableOf(heads, rows).html
      },
    },
  }
}

/** A heading with a link to itself. */
export function titleLine(id: string, depth: number, words: Html): Html {
  const tag = { html: `h${depth}` }
  return html`<${tag} id="${id}">${words} <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a></${tag}>`
}

/** Tables without heads leave their header row out. */
function tableOf(heads: readonly string[], rows: readonly string[][]): Html {
  const cell = (text: string) => html`<td>${{ html: text }}</td>`
  const isHeaded = heads.some((head) => head !== '')
  const header = heads.map((head) =>
    head === '' ? html`<td></td>` : html`<th scope="col">${{ html: head }}</th>`,
  )
  return html`<div class="table-box" tabindex="0"><table>
    ${isHeaded ? html`<thead><tr>${header}</tr></thead>` : null}
    <tbody>${rows.map((cells) => html`<tr>${cells.map(cell)}</tr>`)}</tbody>
  </table></div>`
}

/** The text of each heading's section, for the search. */
function sectionsOf(
  tokens: readonly Token[],
  headings: ReadonlyMap<Token, Heading>,
  title: string,
): Section[] {
  const sections: { id: string; heading: string; text: string }[] = []
  let current = { id: '', heading: title, text: '' }
  for (const token of tokens) {
    const heading = headings.get(token)
    if (heading === undefined) {
      current.text += ` ${plainText([token])}`
      continue
    }
    sections.push(current)
    current = { id: heading.id, heading: heading.text, text: '' }
  }
  return [...sections, current].filter(({ id, text }) => id !== '' || text.trim() !== '')
}

/** The words of tokens, without their marks. */
function plainText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === 'html') return ''
      if (token.type === 'table') return tableText(token as Tokens.Table)
      if (token.type === 'list') return plainText((token as Tokens.List).items)
      if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens)
      return 'text' in token ? String(token.text) : ' '
    })
    .join('')
    .replace(/\s+/g, ' ')
}

function tableText({ header, rows }: Tokens.Table): string {
  return [header, ...rows]
    .flat()
    .map(({ tokens }) => plainText(tokens))
    .join(' ')
}
