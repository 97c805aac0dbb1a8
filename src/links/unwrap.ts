/**
 * Finds the destination of another network's click link.
 *
 * Publishers paste links that already go through an affiliate network or a search engine. The
 * merchant's URL is inside, in a parameter or at the end of the path. Only hosts known as wrappers
 * are unwrapped, because on other sites `?url=` may mean anything.
 */
import { isOnDomain, parseWebUrl, siteHost } from '../platform/net/url.ts'

/** The depth of nested wrappers: a search result that leads to a network has two. */
const MAX_LAYERS = 4

interface Wrapper {
  /** Includes subdomains. */
  readonly domains: readonly string[]
  /** Parameters that may contain the destination, the usual one first. */
  readonly parameters: readonly string[]
  readonly inPath?: InPath
  /** Only URLs with this path prefix, because the host serves other pages as well. */
  readonly path?: string
}

/**
 * The destination is group 1 of a pattern, applied after the first occurrence of a word. A single
 * pattern would restart at each occurrence, which costs more than 1 ms for a URL that repeats the
 * word. A call may contain 500 of them.
 */
interface InPath {
  readonly after: string // in lower case
  readonly pattern: RegExp
}

const WRAPPERS: readonly Wrapper[] = [
  { domains: ['redirectingat.com', 'skimresources.com'], parameters: ['url'] }, // Skimlinks
  { domains: ['viglink.com', 'sovrn.co'], parameters: ['u', 'out'] }, // Sovrn
  { domains: ['linksynergy.com'], parameters: ['murl', 'RD_PARM1'] }, // Rakuten
  { domains: ['awin1.com', 'zenaps.com'], parameters: ['ued', 'p'] }, // Awin
  { domains: ['shareasale.com', 'shareasale-analytics.com'], parameters: ['urllink'] },
  {
    // CJ; its links may carry the destination behind `/dlg/` or `/type/dlg/`.
    domains: [
      'anrdoezrs.net',
      'dpbolvw.net',
      'jdoqocy.com',
      'kqzyfj.com',
      'tkqlhce.com',
      'qksrv.net',
      'emjcd.com',
    ],
    parameters: ['url'],
    inPath: { after: '/dlg/', pattern: /(?:^|\/)(https?(?::|%3A).+)$/i },
  },
  {
    domains: ['prf.hn'], // Partnerize
    parameters: ['destination'],
    inPath: { after: '/destination:', pattern: /^(.+)$/ },
  },
  {
    // Impact; most brands have their own hosts below these.
    domains: ['sjv.io', 'pxf.io', 'evyy.net', '7eer.net', 'ojrq.net'],
    parameters: ['u'],
  },
  {
    // Pepperjam (Ascend)
    domains: ['pjtra.com', 'pjatr.com', 'pntra.com', 'pntrac.com', 'pntrs.com', 'gopjn.com'],
    parameters: ['url'],
  },
  { domains: ['webgains.com'], parameters: ['wgtarget'] },
  {
    domains: ['tradedoubler.com'],
    parameters: ['url'],
    inPath: { after: 'url(', pattern: /^(https?(?::|%3A)[^)]+)\)/i },
  },
  { domains: ['tradetracker.net'], parameters: ['u'] },
  { domains: ['flexlinks.com', 'flexlinkspro.com'], parameters: ['url'] }, // FlexOffers
  { domains: ['admitad.com', 'alitems.com'], parameters: ['ulp'] },
  { domains: ['effiliation.com'], parameters: ['url', 'effi_redir'] },
  { domains: ['rover.ebay.com'], parameters: ['mpre'] },
  { domains: ['partner-ads.com'], parameters: ['htmlurl'] },
  { domains: ['avantlink.com'], parameters: ['url'] },
  { domains: ['linkconnector.com'], parameters: ['url'] },
  { domains: ['digidip.net', 'srvtrck.com', 'exactag.com'], parameters: ['url'] },
  { domains: ['idealo-partner.com'], parameters: ['trg'] },
  { domains: ['s.click.aliexpress.com'], parameters: ['dl_target_url'] },
  { domains: ['adform.net'], parameters: ['ckurl'] },
  { domains: ['googleadservices.com'], parameters: ['adurl'] },
  { domains: ['clickserve.dartsearch.net'], parameters: ['ds_dest_url'] },
  // Services with this interface wrap as `/link/?url=`.
  { domains: ['shop-links.co', 'howl.me'], parameters: ['url'], path: '/link' },
  // Search engines and social networks.
  { domains: ['google.com'], parameters: ['url', 'q'], path: '/url' },
  { domains: ['facebook.com', 'instagram.com'], parameters: ['u'], path: '/l.php' },
  {
    domains: ['l.facebook.com', 'l.instagram.com', 'l.messenger.com', 'l.threads.com'],
    parameters: ['u'],
  },
  { domains: ['vk.com'], parameters: ['to'], path: '/away' },
  { domains: ['slack-redir.net'], parameters: ['url'], path: '/link' },
  { domains: ['youtube.com'], parameters: ['q'], path: '/redirect' },
  { domains: ['duckduckgo.com'], parameters: ['uddg'], path: '/l/' },
  { domains: ['out.reddit.com'], parameters: ['url'] },
  { domains: ['t.umblr.com'], parameters: ['z'], path: '/redirect' },
  { domains: ['linkedin.com'], parameters: ['url'], path: '/redir' },
]

/**
 * The URL that a known click wrapper leads to, through all layers. Null if `text` is not a wrapper,
 * or if its content is not an absolute web URL.
 */
export function unwrapUrl(text: string): string | null {
  let url = parseWebUrl(text)
  let found: URL | null = null
  for (let layer = 0; url !== null && layer < MAX_LAYERS; layer++) {
    url = unwrapOnce(url)
    if (url !== null) found = url
  }
  return found?.href ?? null
}

function unwrapOnce(url: URL): URL | null {
  const wrapper = findWrapper(url)
  if (wrapper === null) return null
  for (const parameter of wrapper.parameters) {
    const inner = readDestination(url.searchParams.get(parameter))
    if (inner !== null) return inner
  }
  const inPath = wrapper.inPath === undefined ? null : findInPath(url.href, wrapper.inPath)
  return inPath === null ? null : readDestination(decode(inPath))
}

function findInPath(href: string, { after, pattern }: InPath): string | null {
  const at = href.toLowerCase().indexOf(after)
  return at < 0 ? null : (pattern.exec(href.slice(at + after.length))?.[1] ?? null)
}

function findWrapper(url: URL): Wrapper | null {
  const host = siteHost(url)
  for (const wrapper of WRAPPERS) {
    if (wrapper.path !== undefined && !url.pathname.startsWith(wrapper.path)) continue
    if (wrapper.domains.some((domain) => isOnDomain(host, domain))) return wrapper
  }
  return null
}

// ShareASale drops the scheme: `www.shop.example/p/1`. A dot before the first slash means a host.
const HOST_WITHOUT_SCHEME = /^[\w-]+(\.[\w-]+)+([/?#]|$)/

function readDestination(text: string | null): URL | null {
  if (text === null || text === '') return null
  // Some tools encode the whole URL twice.
  const plain = /^https?%3a/i.test(text) ? decode(text) : text
  return parseWebUrl(HOST_WITHOUT_SCHEME.test(plain) ? `https://${plain}` : plain)
}

function decode(text: string): string {
  if (!/^https?%3a/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text // An escape that is not UTF-8 stays as it is, which is not a valid URL.
  }
}
