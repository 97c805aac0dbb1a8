/** `duplicateVisitor` → `duplicate_visitor`: a name as columns, reports and metrics have it. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
