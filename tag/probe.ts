/**
 * What does a page's security policy keep the tag from? Asked of the browser itself: each kind of
 * request the tag makes is tried once, and the browser says which rule refused it.
 */

export interface ProbeAddresses {
  readonly script: string
  readonly connect: readonly string[]
  readonly image: string
}

export interface Violation {
  /** The directive to extend, such as `connect-src`. */
  readonly directive: string
  readonly origin: string
}

/** The event arrives in a task of its own, soon after the refused request. */
const PATIENCE_MS = 500

export const probePolicy = async (addresses: ProbeAddresses): Promise<Violation[]> => {
  const found = new Map<string, Violation>()
  const wanted = [addresses.script, ...addresses.connect, addresses.image].map(originOf)
  const listen = (event: SecurityPolicyViolationEvent): void => {
    const origin = originOf(event.blockedURI)
    const directive = event.effectiveDirective.replace(/-(elem|attr)$/, '')
    if (wanted.includes(origin)) found.set(`${directive} ${origin}`, { directive, origin })
  }
  document.addEventListener('securitypolicyviolation', listen)
  for (const address of addresses.connect) {
    fetch(address, { mode: 'no-cors', credentials: 'omit' }).catch(() => undefined)
  }
  new Image().src = addresses.image
  const script = document.createElement('script')
  try {
    script.src = addresses.script
    document.head.append(script)
  } catch {
    // The page demands trusted types of scripts made by scripts; the tag makes none.
  }
  await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))
  script.remove()
  document.removeEventListener('securitypolicyviolation', listen)
  return [...found.values()]
}

const originOf = (address: string): string => {
  try {
    return new URL(address).origin
  } catch {
    return '' // Such as `inline` or `eval`.
  }
}
