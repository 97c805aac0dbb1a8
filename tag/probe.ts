/**
 * Finds what a page's security policy blocks. Each kind of request that the tag makes is tried
 * once; the browser reports the rule that blocked it.
 */

/** The browser reports a violation in a separate task, soon after the blocked request. */
const TIMEOUT_MS = 500

/** One sentence per violation, with the directive to extend. */
export const probePolicy = async (base: string, auctionUrl: string): Promise<string[]> => {
  const found = new Set<string>()
  const services = new Set([base, auctionUrl])
  const wanted = [...services].map(originOf)
  const listen = (event: SecurityPolicyViolationEvent): void => {
    const origin = originOf(event.blockedURI)
    const directive = event.effectiveDirective.replace(/-(elem|attr)$/, '')
    if (!wanted.includes(origin)) return
    const nonce =
      directive === 'script-src' ? ', or give the tag’s script element the page’s nonce' : ''
    found.add(
      `The page’s Content-Security-Policy forbids ${directive} ${origin}: ` +
        `add it to ${directive}${nonce}.`,
    )
  }
  document.addEventListener('securitypolicyviolation', listen)
  for (const service of services) {
    fetch(`${service}/healthz`, { mode: 'no-cors', credentials: 'omit' }).catch(() => undefined)
  }
  new Image().src = `${auctionUrl}/api/v1/pixel/?probe`
  const script = document.createElement('script')
  try {
    script.src = `${base}/tag/souk.js`
    document.head.append(script)
  } catch {
    // The page requires trusted types for scripts created by scripts; the tag creates none.
  }
  await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS))
  script.remove()
  document.removeEventListener('securitypolicyviolation', listen)
  return [...found]
}

const originOf = (address: string): string => {
  try {
    return new URL(address).origin
  } catch {
    return '' // Such as `inline` or `eval`.
  }
}
