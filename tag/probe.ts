/**
 * What does a page's security policy keep the tag from? Asked of the browser itself: each kind of
 * request the tag makes is tried once, and the browser says which rule refused it.
 */

/** The event arrives in a task of its own, soon after the refused request. */
const PATIENCE_MS = 500

/** A sentence per refusal, with the directive to extend. */
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
    // The page demands trusted types of scripts made by scripts; the tag makes none.
  }
  await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))
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
