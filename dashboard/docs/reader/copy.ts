/** Adds a copy button to every block of code. */

const SHOWN_MS = 2_000

export function addCopyButtons(): void {
  for (const box of document.querySelectorAll('.code-box')) {
    const code = box.querySelector('pre')
    if (code === null) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', () => void copy(code, button))
    box.append(button)
  }
}

async function copy(code: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const isCopied = await write(code)
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, SHOWN_MS)
}

/** A browser may refuse access to the clipboard. Then the code is selected. */
async function write(code: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(code.textContent ?? '')
    return true
  } catch {
    getSelection()?.selectAllChildren(code)
    return document.execCommand('copy')
  }
}
