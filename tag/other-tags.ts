/**
 * Known tags of other services that rewrite or hold back links, recognised by the URLs they load.
 *
 * Two tags on one page may each wrap the other's links. To prevent this, the publisher excludes our
 * hosts in the other tag's configuration.
 */

interface KnownTag {
  readonly name: string
  readonly addresses: RegExp
}

const LINK_TAGS: readonly KnownTag[] = [
  { name: 'Skimlinks', addresses: /^https?:\/\/[^/]*\.(skimresources|redirectingat)\.com\// },
  { name: 'Sovrn Commerce (VigLink)', addresses: /^https?:\/\/[^/]*\.(viglink\.com|sovrn\.co)\// },
  { name: 'Howl (Narrativ)', addresses: /^https?:\/\/[^/]*(\.narrativ\.com|shop-links\.co)\// },
  { name: 'Amazon OneLink', addresses: /^https?:\/\/[^/]*\.amazon-adsystem\.com\/.*onelink/ },
  { name: 'Awin', addresses: /^https?:\/\/[^/]*\.dwin[12]\.com\// },
  { name: 'CJ', addresses: /^https?:\/\/[^/]*\.(anrdoezrs\.net|emjcd\.com)\// },
  { name: 'Rakuten', addresses: /^https?:\/\/[^/]*\.(rmtag\.com|linksynergy\.com)\// },
  { name: 'Impact', addresses: /^https?:\/\/[^/]*\.(impactcdn|impactradius-event)\.com\// },
  { name: 'Geniuslink', addresses: /^https?:\/\/[^/]*\.(geni\.us|georiot\.com)\// },
  { name: 'Digidip', addresses: /^https?:\/\/[^/]*\.digidip\.net\// },
  { name: 'Yieldkit', addresses: /^https?:\/\/[^/]*\.yieldkit\.com\// },
]

/** The names of other services' link tags on this page, each once. */
export const findOtherTags = (): string[] => {
  const addresses = [
    ...Array.from(document.scripts, ({ src }) => src),
    ...performance.getEntriesByType('resource').map(({ name }) => name),
  ]
  return LINK_TAGS.filter((tag) => addresses.some((address) => tag.addresses.test(address))).map(
    ({ name }) => name,
  )
}
