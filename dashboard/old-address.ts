/** Rewrites URLs of earlier versions, which named a publisher or a merchant in two parameters. */
import { pageAt } from './navigation.ts'

const BASE = '/dashboard'

/** The present form of a URL: `?pub=7` becomes `?org=publisher-7`. */
export function upgradeAddress(address: string): string {
  const url = new URL(address)
  const { searchParams: query } = url
  const [pub, merch] = [query.get('pub'), query.get('merch')]
  if (pub === null && merch === null) return address
  const path = url.pathname.slice(BASE.length).replace(/(?<=.)\/$/, '') || '/'
  const isMerchants = pub === null || (merch !== null && pageAt(path)?.kind === 'merchant')
  if (!query.has('org')) query.set('org', isMerchants ? `merchant-${merch}` : `publisher-${pub}`)
  query.delete('pub')
  query.delete('merch')
  return url.href
}
