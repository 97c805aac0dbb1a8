/**
 * The picture of a product, loaded from its merchant's server. An `img` runs no script, whatever
 * the server sends. It is decoration: the name of the product is beside it.
 */
import { useState } from 'react'
import { pictureSource } from '../picture-source.ts'
import { Icon } from './icon.tsx'

const SIZES = { small: 'size-6', medium: 'size-14', large: 'size-40' } as const
const PIXELS = { small: 24, medium: 56, large: 160 } as const

export function ProductPicture(props: { url: string | null; size: keyof typeof SIZES }) {
  const { size } = props
  const source = pictureSource(props.url)
  const [failed, setFailed] = useState<string | null>(null)
  return (
    <span
      aria-hidden="true"
      className={`inline-grid shrink-0 place-items-center overflow-hidden rounded border border-line bg-sunk text-soft ${SIZES[size]}`}
    >
      {source === null || source === failed ? (
        <Icon name="picture" size={size === 'small' ? 12 : 24} />
      ) : (
        <img
          src={source}
          alt=""
          width={PIXELS[size]}
          height={PIXELS[size]}
          loading="lazy"
          decoding="async"
          referrerPolicy="no-referrer"
          className="size-full bg-white object-contain"
          onError={() => setFailed(source)}
        />
      )}
    </span>
  )
}
