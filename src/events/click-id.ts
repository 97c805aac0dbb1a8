/** Ids of clicks: 32 hexadecimal digits where they are told, 16 bytes in their column. */
export function clickIdBytes(clickIds: readonly string[]): Buffer[] {
  return clickIds.map((clickId) => Buffer.from(clickId, 'hex'))
}
