/** Saves a text that the page made as a file. */

/** Browsers start the download after the click; the URL must last until then. */
const URL_MS = 10_000

/** Spreadsheets read UTF-8 only with this mark. */
const BYTE_ORDER_MARK = '\uFEFF'

export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([BYTE_ORDER_MARK, text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), URL_MS)
}
