/** The search over all pages: `/` or the button opens it, arrow keys move through the results. */
import type MiniSearch from 'minisearch'
import type { SearchResult } from 'minisearch'
import type { SearchEntry } from './search-options.ts'

const RESULTS_MAX = 12

export function enableSearch(): void {
  const button = document.querySelector<HTMLButtonElement>('.search-button')
  if (button === null) return
  const dialog = new SearchDialog(button.dataset.search ?? '')
  button.addEventListener('click', () => dialog.open())
  document.addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).matches('input, textarea, select')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    dialog.open()
  })
}

class SearchDialog {
  readonly #indexUrl: string
  readonly #dialog = document.createElement('dialog')
  readonly #input = document.createElement('input')
  readonly #status = document.createElement('p')
  readonly #list = document.createElement('ol')
  #index: Promise<MiniSearch<SearchEntry>> | null = null

  constructor(indexUrl: string) {
    this.#indexUrl = indexUrl
    this.#dialog.className = 'search'
    this.#dialog.setAttribute('aria-label', 'Search the documentation')
    this.#input.type = 'search'
    this.#input.className = 'search-field'
    this.#status.className = 'search-status'
    this.#input.placeholder = 'Search the documentation'
    this.#input.setAttribute('aria-label', 'Search the documentation')
    this.#status.setAttribute('role', 'status')
    this.#dialog.append(this.#input, this.#status, this.#list)
    this.#input.addEventListener('input', () => void this.#show())
    this.#dialog.addEventListener('keydown', (event) => this.#move(event))
    this.#dialog.addEventListener('click', (event) => {
      const isLink = (event.target as Element).closest('a') !== null
      // A click on the dialog itself is one beside its content.
      if (event.target === this.#dialog || isLink) this.#dialog.close()
    })
    document.body.append(this.#dialog)
  }

  open(): void {
    if (!this.#dialog.open) this.#dialog.showModal()
    this.#input.select()
    void this.#show()
  }

  async #show(): Promise<void> {
    const words = this.#input.value.trim()
    try {
      this.#index ??= loadIndex(this.#indexUrl)
      const index = await this.#index
      // Another letter may have been typed during the download.
      if (words !== this.#input.value.trim()) return
      const found = words === '' ? [] : index.search(words)
      this.#list.replaceChildren(...found.slice(0, RESULTS_MAX).map(resultItem))
      this.#status.textContent = statusOf(words, found.length)
    } catch {
      this.#index = null // The next letter tries again.
      this.#status.textContent = 'The search index could not be loaded. Check your connection.'
    }
  }

  #move(event: KeyboardEvent): void {
    const links = [...this.#list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (event.key === 'Enter' && at === -1) links[0]?.click()
    else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus()
    else if (event.key === 'ArrowUp') (links[at - 1] ?? this.#input).focus()
    else return
    event.preventDefault()
  }
}

async function loadIndex(url: string): Promise<MiniSearch<SearchEntry>> {
  const [{ default: Index }, { SEARCH_OPTIONS }, response] = await Promise.all([
    import('minisearch'),
    import('./search-options.ts'),
    fetch(url),
  ])
  if (!response.ok) throw new Error(`the index answered ${response.status}`)
  return Index.loadJSON<SearchEntry>(await response.text(), SEARCH_OPTIONS)
}

function statusOf(words: string, count: number): string {
  if (words === '') return 'Type a word, an endpoint or an error code.'
  if (count === 0) return `Nothing found for “${words}”. Try fewer words.`
  return count === 1 ? '1 result' : `${count} results`
}

function resultItem({ id, page, heading, excerpt }: SearchResult): HTMLLIElement {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = String(id)
  link.className = 'search-result'
  link.append(line('strong', '', heading))
  if (page !== heading) link.append(line('span', 'search-page', page))
  if (excerpt !== '') link.append(line('small', 'search-excerpt', excerpt))
  item.append(link)
  return item
}

function line(tag: 'strong' | 'span' | 'small', className: string, text: string): HTMLElement {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}
