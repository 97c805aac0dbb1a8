/** Shows a short message about finished work. Errors belong beside their cause instead. */
export async function toast(text: string): Promise<void> {
  const { messages } = await import('./toasts.tsx')
  messages.add({ title: text })
}
