/**
 * The page's settings and the service's URLs.
 *
 * The build shortens names with a leading underscore (scripts/build-tag.ts); pages or the service
 * use all other names.
 */

/** Settings that a page may write into `window.souk`, before or after the tag loads. */
export interface PageSettings {
  /** The publisher's slug, for pages whose script element cannot carry `data-publisher`. */
  publisher?: string
  /** Audit mode: counts impressions and changes nothing on the page. */
  donotlink?: boolean
  /** Links made from raw ones stay with their own merchant. */
  exclusiveLinks?: boolean
  /** The publisher's label for clicks of this page; a link's own `u1` wins. */
  u1?: string
  /** false: no `rel="sponsored nofollow"` on monetised links. */
  rel?: boolean
  /** false: ignores links that contain another URL (other networks' wrappers). */
  unwrap?: boolean
  /** A CSS selector: only raw links that match it become smart links. */
  selector?: string
  /** The page's own knowledge of the reader's choice. */
  consent?: 'full' | 'contextual'
}

interface Configuration {
  amp_config: { publisher_id: number; linkmate_enabled: boolean }
  page_tag: {
    auction_url: string
    link_url: string
    brand: string
    domains: string[]
    /** Changes when merchants have joined or left. */
    merchants_version?: string | undefined
  }
}

/** The service's URLs and the publisher's facts, as the page-tag configuration names them. */
export type Service = Configuration['amp_config'] &
  Configuration['page_tag'] & {
    _base: string
    /** The URLs of the service without their scheme, the one of smart links first. */
    _own: string[]
  }

/** Parses the response of `…/amp_config/?page_tag=1`; throws when it is invalid. */
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
