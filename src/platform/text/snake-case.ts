/** `duplicateVisitor` → `duplicate_visitor`: names as in columns, reports and metrics. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
