/** Shows the examples of all pages in the language that the reader chose last. */
import { readStored, writeStored } from './storage.ts'

const KEY = 'souk docs language'

export function rememberLanguage(): void {
  const choices = [...document.querySelectorAll<HTMLInputElement>('.tabs input')]
  const show = (language: string | null) => {
    for (const choice of choices) if (choice.value === language) choice.checked = true
  }
  show(readStored(KEY))
  for (const choice of choices) {
    choice.addEventListener('change', () => {
      const top = choice.getBoundingClientRect().top
      show(choice.value)
      writeStored(KEY, choice.value)
      // Examples above this one changed their height too.
      scrollBy({ top: choice.getBoundingClientRect().top - top, behavior: 'instant' })
    })
  }
}
