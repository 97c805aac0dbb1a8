/** Which URL of a feed the browser may load as the picture of a product. */

/**
 * Pictures come from merchants' servers, over https. Only a demo has them on this machine: browsers
 * resolve hosts below `localhost` to it themselves. Null for everything else that a feed may hold.
 */
export function pictureSource(url: string | null): string | null {
  // Safari 17 has no `URL.parse`.
  const parsed = url !== null && URL.canParse(url) ? new URL(url) : null
  if (parsed === null || parsed.username !== '' || parsed.password !== '') return null
  const { protocol, hostname } = parsed
  const isDemo = protocol === 'http:' && hostname.endsWith('.localhost')
  return protocol === 'https:' || isDemo ? parsed.href : null
}
