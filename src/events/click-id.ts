/** Click ids: 32 hexadecimal digits on the wire, 16 bytes in their column. */
export const CLICK_ID = /^[0-9a-f]{32}$/

export function clickIdBytes(clickIds: readonly string[]): Buffer[] {
  return clickIds.map((clickId) => Buffer.from(clickId, 'hex'))
}
