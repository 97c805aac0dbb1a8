/** What a link to a product page would earn: each merchant that pays, or that nobody does. */
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isNotLoggedIn } from '../api.ts'
import { cents } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { type Offer, publisherApi } from '../publisher-api.ts'
import { Icon } from '../ui/icon.tsx'

/** Waits until somebody stops typing, so that not every letter is a call. */
const TYPING_MS = 400
/** The link finder needs the URL of an article. This one is reserved and belongs to nobody. */
const NO_ARTICLE = 'https://article.example/'

export interface Market {
  readonly productName: string | null
  /** Merchants that pay for a click now, the best first. */
  readonly paying: readonly Offer[]
  readonly isListed: boolean
  /** Whether the click earns; it may without a listed product, where a merchant owns the shop. */
  readonly canEarn: boolean
}

export function useMarket(url: string) {
  const { pub_id: pubId } = usePublisher()
  const debounced = useDebounced(url.trim())
  const isAsked = /^https?:\/\/./i.test(debounced) && URL.canParse(debounced)
  // Not a query: those repeat by themselves after a new log-in, still with the old session's token.
  const { mutate, data, error, variables } = useMutation({
    mutationFn: (wanted: string) => readMarket(pubId, wanted),
  })
  useEffect(() => {
    if (isAsked) mutate(debounced)
  }, [isAsked, debounced, mutate])
  const isOfThis = isAsked && variables === debounced
  return { data: isOfThis ? data : undefined, error: isOfThis ? error : null }
}

async function readMarket(pubId: number, url: string): Promise<Market> {
  const [{ rows }, [found]] = await Promise.all([
    publisherApi.products(pubId, url, null),
    publisherApi.findLinks(pubId, { urls: [url], article: { url: NO_ARTICLE } }),
  ])
  const [product] = rows
  const offers = product?.offers ?? []
  return {
    productName: product?.name ?? found?.product_name ?? null,
    paying: offers.filter((offer) => offer.in_stock && offer.best_effort_cpc > 0),
    isListed: offers.length > 0,
    canEarn: found?.can_earn ?? false,
  }
}

function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

/** One sentence about what a click earns. */
export function verdict({ paying, isListed, canEarn }: Market): string {
  const [best] = paying
  if (best !== undefined) {
    const merchants = paying.length === 1 ? 'One merchant pays' : `${paying.length} merchants pay`
    return `${merchants} for a click on this product: about ${cents(String(best.best_effort_cpc))}.`
  }
  if (canEarn) {
    return 'A merchant of the network owns this shop and pays, but its feed does not list this page.'
  }
  return isListed
    ? 'No merchant that sells this product pays for clicks now. The link would earn nothing.'
    : 'Nobody sells this here. The link would earn nothing.'
}

export function LinkPreview({ url }: { url: string }) {
  const market = useMarket(url)
  if (market.error !== null && !isNotLoggedIn(market.error)) {
    return <p className="text-sm text-soft">Could not check the link: {market.error.message}</p>
  }
  if (market.data === undefined) return null
  const { productName, paying, canEarn } = market.data
  const isGood = paying.length > 0 || canEarn
  return (
    <div
      role="status"
      aria-label="Before you save"
      className={`space-y-2 rounded-lg px-3 py-2.5 text-sm ${isGood ? 'bg-tint' : 'bg-second-tint'}`}
    >
      <p className={`flex items-start gap-2 font-medium ${isGood ? 'text-accent' : 'text-second'}`}>
        <span className="mt-0.5">
          <Icon name={isGood ? 'check' : 'alert'} />
        </span>
        {verdict(market.data)}
      </p>
      {productName !== null && <bdi className="block text-soft">{productName}</bdi>}
      {paying.length > 0 && (
        <ul className="flex flex-wrap gap-x-6 gap-y-1">
          {paying.map((offer) => (
            <li key={offer.merch_id}>
              <bdi>{offer.merchant_name}</bdi>{' '}
              <span className="number text-soft">
                {cents(String(offer.best_effort_cpc))} a click, product {cents(offer.price)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
