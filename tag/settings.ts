/**
 * What the page says and where the service is.
 *
 * Names with a leading underscore are shortened by the build (scripts/build-tag.ts); names
 * without one are seen by pages or by the service and stay.
 */

/** What a page may write into `window.souk`, before or after the tag loads. */
export interface PageSettings {
  /** The publisher's slug, where the script element cannot carry `data-publisher`. */
  publisher?: string
  /** Audit mode: impressions are counted, nothing on the page is changed. */
  donotlink?: boolean
  /** Links made from raw ones stay with their own merchant. */
  exclusiveLinks?: boolean
  /** The publisher's own label for clicks of this page; a link's own `u1` wins. */
  u1?: string
  /** false: no `rel="sponsored nofollow"` on monetised links. */
  rel?: boolean
  /** false: links that carry another address inside (other networks' wrappers) are left alone. */
  unwrap?: boolean
  /** A CSS selector: only raw links that match it become smart links. */
  selector?: string
  /** What the page itself knows of the reader's choice. */
  consent?: 'full' | 'contextual'
}

interface Configuration {
  amp_config: { publisher_id: number; linkmate_enabled: boolean }
  page_tag: {
    auction_url: string
    link_url: string
    brand: string
    domains: string[]
    /** Another one says that merchants have joined or left. */
    merchants_version?: string | undefined
  }
}

/** The service's addresses and the publisher's facts, as the page-tag configuration names them. */
export type Service = Configuration['amp_config'] &
  Configuration['page_tag'] & {
    _base: string
    /** How our addresses go on behind their scheme, that of smart links first. */
    _own: string[]
  }

/** Reads the answer of `…/amp_config/?page_tag=1`; throws when it is not one. */
export const readService = (answer: unknown, base: string): Service => {
  const [{ amp_config, page_tag }] = (answer as { data: [Configuration] }).data
  const _own: string[] = []
  for (const own of [page_tag.link_url, base, page_tag.auction_url]) {
    _own.push(`${withoutScheme(own)}/`)
  }
  return { ...amp_config, ...page_tag, _base: base, _own }
}

/** Links on an http page and links on an https page are the same links. */
export const withoutScheme = (address: string): string => address.replace(/^https?:/, '')
