/** A product with every merchant's offer, links to copy, and a button for several merchants. */
import { useState } from 'react'
import { cents } from '../format.ts'
import { offerButton } from '../offer-button.ts'
import type { Offer, Product } from '../publisher-api.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Parts } from '../ui/parts.tsx'
import { ProductPicture } from '../ui/product-picture.tsx'

const pays = (offer: Offer): boolean => offer.in_stock && offer.best_effort_cpc > 0

export function ProductCard({ product }: { product: Product }) {
  const { name, brand, gtin, offers } = product
  const [chosen, setChosen] = useState<ReadonlySet<number>>(
    () => new Set(offers.filter(pays).map((offer) => offer.merch_id)),
  )
  const selected = offers.filter((offer) => chosen.has(offer.merch_id))
  const choose = (merchId: number, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(merchId)
    else next.delete(merchId)
    setChosen(next)
  }
  return (
    <article aria-label={name} className="panel">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 py-3">
        <div className="flex min-w-0 items-start gap-3">
          <ProductPicture url={product.image_url} size="medium" />
          <div className="min-w-0">
            <h2>
              <bdi>{name}</bdi>
            </h2>
            <p className="text-sm text-soft">
              <Parts of={[brand || null, gtin === '' ? null : `GTIN ${gtin}`]} />
            </p>
          </div>
        </div>
        {selected.length > 0 && (
          <CopyButton
            text={offerButton(selected)}
            label={
              selected.length === 1 ? 'Copy button' : `Copy button for ${selected.length} merchants`
            }
            of={name}
          />
        )}
      </div>
      <ul className="divide-y divide-line border-t border-line">
        {offers.map((offer) => (
          <OfferLine
            key={offer.merch_id}
            offer={offer}
            isChosen={chosen.has(offer.merch_id)}
            onChoose={(isChosen) => choose(offer.merch_id, isChosen)}
          />
        ))}
      </ul>
    </article>
  )
}

function OfferLine(props: {
  offer: Offer
  isChosen: boolean
  onChoose: (isChosen: boolean) => void
}) {
  const { offer, isChosen, onChoose } = props
  const { merchant_name: merchant, price, in_stock, best_effort_cpc: cpc } = offer
  return (
    <li className="grid grid-cols-[1fr_auto] items-center gap-x-4 gap-y-1.5 px-4 py-2 text-sm sm:grid-cols-[1fr_5rem_7rem_9rem_auto]">
      <label className="flex min-w-0 items-center gap-2">
        <input
          type="checkbox"
          className="size-4 shrink-0 accent-accent"
          checked={isChosen}
          onChange={({ target }) => onChoose(target.checked)}
        />
        <bdi className="min-w-0 truncate font-medium">{merchant}</bdi>
        <span className="sr-only"> in the button</span>
      </label>
      <span className="sm:order-last">
        <CopyButton text={offer.clickmate_link} label="Copy link" of={merchant} />
      </span>
      <div className="col-span-2 flex flex-wrap items-center justify-between gap-x-4 sm:contents">
        <span className="number sm:text-right">{cents(price)}</span>
        <span>
          <span className={`chip gap-1 ${in_stock ? '' : 'bg-second-tint text-second'}`}>
            <Icon name={in_stock ? 'check' : 'empty'} size={12} />
            {in_stock ? 'In stock' : 'Out of stock'}
          </span>
        </span>
        <span className="number sm:text-right">
          {pays(offer) ? (
            <>about {cents(String(cpc))} a click</>
          ) : (
            <span className="text-soft">pays nothing now</span>
          )}
        </span>
      </div>
    </li>
  )
}
