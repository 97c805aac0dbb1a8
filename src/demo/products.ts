/**
 * The goods of the demo network: 288 invented products, the same on every machine.
 *
 * GTINs start with 952, the prefix that GS1 reserves for examples, and have valid check digits.
 */
import { withCheckDigit } from '../catalog/gtin.ts'

export type Category = 'kettle' | 'grinder' | 'knife' | 'headlamp' | 'backpack' | 'tent'

export interface DemoProduct {
  readonly gtin: string // GTIN-13
  readonly category: Category
  readonly brand: string
  readonly name: string
  readonly priceCents: number // The usual price.
  readonly hue: number // The hue of its picture, 0–359.
}

interface Range {
  readonly taxonomy: string // The category's path in Google's taxonomy, as in feeds.
  readonly brands: readonly string[]
  readonly lines: readonly string[]
  readonly variants: readonly string[]
  readonly kind: string
  readonly fromCents: number
  readonly toCents: number
}

const RANGES: Record<Category, Range> = {
  kettle: {
    taxonomy:
      'Home & Garden > Kitchen & Dining > Cookware & Bakeware > Cookware > Stovetop Kettles',
    brands: ['Ostrava', 'Brindle & Co', 'Kumo', 'Halden'],
    lines: ['Stagwell', 'Plume', 'Arc', 'Tern'],
    variants: ['0.6 L', '0.9 L', '1.2 L'],
    kind: 'Pour-Over Kettle',
    fromCents: 3900,
    toCents: 18900,
  },
  grinder: {
    taxonomy: 'Home & Garden > Kitchen & Dining > Kitchen Appliances > Coffee Grinders',
    brands: ['Millward', 'Kumo', 'Torvik', 'Sieva'],
    lines: ['Hand', 'Flat', 'Cone', 'Atlas'],
    variants: ['38 mm', '48 mm', '58 mm'],
    kind: 'Coffee Grinder',
    fromCents: 4900,
    toCents: 32900,
  },
  knife: {
    taxonomy: 'Home & Garden > Kitchen & Dining > Kitchen Tools & Utensils > Kitchen Knives',
    brands: ['Aoki', 'Brandt', 'Halden', 'Corvo'],
    lines: ['Heron', 'Slate', 'Juniper', 'Forge'],
    variants: ['16 cm', '18 cm', '21 cm'],
    kind: "Chef's Knife",
    fromCents: 3500,
    toCents: 24900,
  },
  headlamp: {
    taxonomy: 'Hardware > Tools > Flashlights & Headlamps > Headlamps',
    brands: ['Lumo', 'Fjellrev', 'Petra', 'Northpeak'],
    lines: ['Dash', 'Ridge', 'Vigil', 'Comet'],
    variants: ['300', '450', '800'],
    kind: 'Headlamp',
    fromCents: 1900,
    toCents: 11900,
  },
  backpack: {
    taxonomy: 'Luggage & Bags > Backpacks',
    brands: ['Fjellrev', 'Osage', 'Northpeak', 'Varde'],
    lines: ['Drift', 'Cairn', 'Saddle', 'Traverse'],
    variants: ['22 L', '38 L', '55 L'],
    kind: 'Backpack',
    fromCents: 6900,
    toCents: 28900,
  },
  tent: {
    taxonomy: 'Sporting Goods > Outdoor Recreation > Camping & Hiking > Tents',
    brands: ['Varde', 'Osage', 'Kelda', 'Fjellrev'],
    lines: ['Lee', 'Hollow', 'Shieling', 'Mistral'],
    variants: ['1 Person', '2 Person', '3 Person'],
    kind: 'Tent',
    fromCents: 11900,
    toCents: 64900,
  },
}

export const CATEGORIES = Object.keys(RANGES) as Category[]

export function taxonomyOf({ category }: DemoProduct): string {
  return RANGES[category].taxonomy
}

/** Every brand × line × variant of every category: 288 products. */
export function demoProducts(): DemoProduct[] {
  return CATEGORIES.flatMap((category, categoryIndex) => {
    const { brands, lines, variants, kind, fromCents, toCents } = RANGES[category]
    const all = brands.flatMap((brand) =>
      lines.flatMap((line) => variants.map((variant) => ({ brand, line, variant }))),
    )
    return all.map(({ brand, line, variant }, index) => {
      const spread = scatter(categoryIndex * 1000 + index)
      const cents = fromCents + spread * (toCents - fromCents)
      return {
        gtin: withCheckDigit(`9521${categoryIndex}${String(index).padStart(7, '0')}`),
        category,
        brand,
        name: `${brand} ${line} ${kind}, ${variant}`,
        priceCents: Math.round(cents / 100) * 100 - 5,
        hue: Math.floor(scatter(index * 7 + categoryIndex) * 360),
      }
    })
  })
}

/** Spreads whole numbers evenly over [0, 1) by golden-ratio steps. */
export function scatter(number: number): number {
  return (number * 0.618_033_988_749_895 + 0.137) % 1
}
