/** The participants of the demo network: merchants with campaigns, publishers with articles. */
import { type Category, type DemoProduct, demoProducts, scatter } from './products.ts'

export interface DemoCampaign {
  readonly model: 'cpc' | 'cpa' | 'epp'
  readonly bidCents?: number
  readonly exclusiveBidCents?: number
  readonly ratePercent?: number
  readonly paymentCents?: number
  readonly dailyBudgetDollars?: number
  readonly budgetDollars?: number
}

export interface DemoMerchant {
  readonly slug: string // Its shop is at <slug>.localhost.
  readonly name: string
  readonly claim: string
  readonly categories: readonly Category[]
  readonly priceLevel: number // 1 is the usual price.
  readonly everyNth: number // It carries every nth product of its categories.
  readonly feed: 'csv' | 'tsv' | 'xml' | 'jsonl'
  readonly campaigns: readonly DemoCampaign[]
}

export const MERCHANTS: readonly DemoMerchant[] = [
  {
    slug: 'kettlework',
    name: 'Kettlework',
    claim: 'Everything for a better cup.',
    categories: ['kettle', 'grinder'],
    priceLevel: 1,
    everyNth: 1,
    feed: 'csv',
    campaigns: [{ model: 'cpc', bidCents: 62, exclusiveBidCents: 80, dailyBudgetDollars: 200 }],
  },
  {
    slug: 'larder-and-loom',
    name: 'Larder & Loom',
    claim: 'A well-kept kitchen.',
    categories: ['kettle', 'grinder', 'knife'],
    priceLevel: 0.97,
    everyNth: 2,
    feed: 'xml',
    campaigns: [{ model: 'cpa', ratePercent: 8 }],
  },
  {
    slug: 'edge-supply',
    name: 'Edge Supply',
    claim: 'Knives, stones, boards.',
    categories: ['knife', 'grinder'],
    priceLevel: 0.94,
    everyNth: 1,
    feed: 'jsonl',
    campaigns: [
      { model: 'cpc', bidCents: 48, dailyBudgetDollars: 150, budgetDollars: 5000 },
      { model: 'cpa', ratePercent: 6 },
    ],
  },
  {
    slug: 'basecamp-direct',
    name: 'Basecamp Direct',
    claim: 'Out the door in a day.',
    categories: ['headlamp', 'backpack', 'tent'],
    priceLevel: 1.02,
    everyNth: 1,
    feed: 'tsv',
    campaigns: [{ model: 'cpc', bidCents: 85, exclusiveBidCents: 110, dailyBudgetDollars: 300 }],
  },
  {
    slug: 'windward-outfitters',
    name: 'Windward Outfitters',
    claim: 'Gear that has been somewhere.',
    categories: ['headlamp', 'backpack', 'tent'],
    priceLevel: 0.96,
    everyNth: 2,
    feed: 'xml',
    campaigns: [{ model: 'epp', paymentCents: 950 }],
  },
  {
    slug: 'cornerstone',
    name: 'Cornerstone',
    claim: 'A bit of everything.',
    categories: ['kettle', 'knife', 'headlamp', 'backpack'],
    priceLevel: 0.99,
    everyNth: 3,
    feed: 'csv',
    campaigns: [{ model: 'cpc', bidCents: 55, dailyBudgetDollars: 120 }],
  },
]

export interface DemoOffer {
  readonly merchant: DemoMerchant
  readonly product: DemoProduct
  readonly sku: string
  readonly priceCents: number
  readonly isInStock: boolean
}

/** A merchant's offers, with its own prices and gaps in stock. */
export function offersOf(merchant: DemoMerchant): DemoOffer[] {
  const place = MERCHANTS.indexOf(merchant)
  const soldOut = soldOutGtins(merchant)
  return demoProducts()
    .filter(({ category }) => merchant.categories.includes(category))
    .filter((_, index) => index % merchant.everyNth === place % merchant.everyNth)
    .map((product, index) => {
      const wobble = 0.97 + 0.06 * scatter(index * 31 + place * 17)
      return {
        merchant,
        product,
        sku: `${merchant.slug.slice(0, 3).toUpperCase()}-${product.gtin.slice(4, 12)}`,
        priceCents: Math.round(product.priceCents * merchant.priceLevel * wobble),
        isInStock: scatter(index * 13 + place * 5) > 0.06 && !soldOut.has(product.gtin),
      }
    })
}

/** The products of articles that this merchant has sold out. */
export function soldOutGtins({ slug }: DemoMerchant): ReadonlySet<string> {
  const picks = ARTICLES.flatMap((article) => article.picks)
  const soldOut = picks.filter(({ fate, seller }) => fate === 'sold_out' && seller === slug)
  return new Set(soldOut.map(wantedGtin))
}

function wantedGtin({ category, place }: DemoPick): string {
  return demoProducts().filter((product) => product.category === category)[place]?.gtin ?? ''
}

export interface DemoPublisher {
  readonly slug: string // Its site is at <slug>.localhost.
  readonly name: string
  readonly claim: string
  readonly isPartner: boolean
  readonly sharePercent: number
}

export const PUBLISHERS: readonly DemoPublisher[] = [
  {
    slug: 'hearthside',
    name: 'Hearthside',
    claim: 'Notes on a slower kitchen',
    isPartner: false,
    sharePercent: 75,
  },
  {
    slug: 'trail-ledger',
    name: 'Trail Ledger',
    claim: 'Gear, carried and counted',
    isPartner: true,
    sharePercent: 70,
  },
]

export interface DemoPick {
  readonly verdict: string // Such as "Best overall".
  readonly category: Category
  readonly place: number // The index of the product in its category.
  readonly seller: string // The slug of the merchant that the article links to.
  readonly isExclusive: boolean
  readonly text: string
  /** A link that no longer earns: its seller has sold out, or the magazine has disabled it. */
  readonly fate?: 'sold_out' | 'disabled'
}

export interface DemoArticle {
  readonly publisher: string
  readonly slug: string
  readonly title: string
  readonly standfirst: string
  readonly author: string
  readonly published: string
  readonly opening: readonly string[]
  readonly picks: readonly DemoPick[]
  readonly closing: string
}

export const ARTICLES: readonly DemoArticle[] = [
  {
    publisher: 'hearthside',
    slug: 'pour-over-kettles',
    title: 'Five pour-over kettles, after three hundred cups',
    standfirst:
      'We boiled, poured and burnt a thumb or two. A slow, even stream matters more than any screen.',
    author: 'Ines Aldous',
    published: '2026-08-26T08:00:00Z',
    opening: [
      'A pour-over kettle has one job: to put water where you want it, no faster than you want it. Most of them fail at the last three centimetres, where the spout meets the handle of your patience.',
      'For six weeks these five lived on our counter. We timed them to the boil, weighed what they poured in thirty seconds, and asked four people with very different wrists to make the same cup.',
    ],
    picks: [
      {
        verdict: 'Best overall',
        category: 'kettle',
        place: 1,
        seller: 'kettlework',
        isExclusive: false,
        text: 'The spout bends twice and then forgives you. It boils in under four minutes and holds its temperature through a second cup, which is all most mornings ask.',
      },
      {
        verdict: 'For small kitchens',
        category: 'kettle',
        place: 12,
        seller: 'larder-and-loom',
        isExclusive: false,
        text: 'Light enough to leave on the hob and small enough to forget there. The lid rattles, and we stopped minding.',
      },
      {
        verdict: 'Most patient pour',
        category: 'kettle',
        place: 26,
        seller: 'kettlework',
        isExclusive: true,
        text: 'A narrow throat and a counterweighted handle make it nearly impossible to rush. The maker sells a replacement gasket, and you will want one after a year.',
      },
      {
        verdict: 'Good and cheap',
        category: 'kettle',
        place: 36,
        seller: 'cornerstone',
        isExclusive: false,
        text: 'No thermometer, no scale, no apology. Watch for the first string of bubbles and you will be close enough.',
      },
      {
        verdict: 'And something to grind with',
        category: 'grinder',
        place: 8,
        seller: 'kettlework',
        isExclusive: false,
        text: 'The best kettle cannot save a bad grind. This one takes forty seconds of your arm and gives you a quiet kitchen.',
      },
    ],
    closing:
      'If you already own a kettle that pours where you point it, keep it, and spend the money on beans.',
  },
  {
    publisher: 'hearthside',
    slug: 'one-good-knife',
    title: 'One good knife, and how to keep it that way',
    standfirst: 'You need fewer knives than the block holds. We would start with one of these.',
    author: 'Tomas Reuel',
    published: '2026-09-10T07:30:00Z',
    opening: [
      'Sharpness is not a property of a knife; it is a habit of its owner. Still, some steels reward the habit more than others.',
      'We cut forty kilos of onions, honed twice a week, and measured the edge with a paper test that our neighbours now think is a religion.',
    ],
    picks: [
      {
        verdict: 'The one to buy',
        category: 'knife',
        place: 1, // Out of stock there and 1 % cheaper at a rival: the link is repaired.
        seller: 'edge-supply',
        isExclusive: false,
        text: 'Balanced at the pinch, thin behind the edge, and it takes a new edge in eight strokes. If the shop is out, any of its siblings will do.',
      },
      {
        verdict: 'For bigger hands',
        category: 'knife',
        place: 20,
        seller: 'larder-and-loom',
        isExclusive: false,
        text: 'A higher blade and a heel that clears a knuckle. It asks for a larger board.',
      },
      {
        verdict: 'A gift that lasts',
        category: 'knife',
        place: 33,
        seller: 'edge-supply',
        isExclusive: true,
        text: 'Forged, plain, a little heavy. It arrives sharper than it needs to be and in a box worth keeping.',
      },
    ],
    closing: 'Buy a stone in the same month. The knife is half of it.',
  },
  {
    publisher: 'hearthside',
    slug: 'hand-grinders',
    title: 'Hand grinders, a year later',
    standfirst: 'We kept three of last year’s grinders in daily use. One is still our favourite.',
    author: 'Ines Aldous',
    published: '2026-07-14T08:00:00Z',
    opening: [
      'A test of two weeks tells you how a grinder grinds. A year tells you whether you will still own it.',
      'All three went through about nine kilos of beans, two moves and one fall from a shelf.',
    ],
    picks: [
      {
        verdict: 'Still the favourite',
        category: 'grinder',
        place: 14,
        seller: 'edge-supply',
        isExclusive: false,
        text: 'The burrs have settled in, and the grind is more even than in the first month. The handle squeaks a little.',
      },
      {
        verdict: 'Sold out, sadly',
        category: 'grinder',
        place: 27,
        seller: 'kettlework',
        isExclusive: true,
        fate: 'sold_out',
        text: 'The quietest of the three. Its only shop has sold the last one, and we hope for a second batch.',
      },
      {
        verdict: 'No longer recommended',
        category: 'grinder',
        place: 41,
        seller: 'kettlework',
        isExclusive: false,
        fate: 'disabled',
        text: 'Ours lost its axle after eleven months, and so did two that readers wrote to us about.',
      },
    ],
    closing: 'Clean the burrs twice a year, with a dry brush, and never with water.',
  },
  {
    publisher: 'trail-ledger',
    slug: 'one-night-out',
    title: 'One night out: a packing list that weighs what it says',
    standfirst:
      'A tent, a pack and a light for a single night above the trees, weighed on our own scale.',
    author: 'Marit Osei',
    published: '2026-09-22T06:00:00Z',
    opening: [
      'Every packing list lies about weight; ours lies in public. The figures below are from our scale, with stuff sacks, on a damp Tuesday.',
      'We walked eleven kilometres with each of these, slept badly twice and well once, and would carry all four again.',
    ],
    picks: [
      {
        verdict: 'The light',
        category: 'headlamp',
        place: 4,
        seller: 'basecamp-direct',
        isExclusive: false,
        text: 'Warm at low power, which is how you will use it, and it locks so that it does not spend the walk lighting your socks.',
      },
      {
        verdict: 'The pack',
        category: 'backpack',
        place: 13,
        seller: 'windward-outfitters',
        isExclusive: false,
        text: 'Thirty-eight litres swallow a night and a jumper. The hip belt pockets close with one hand, which we did not know we wanted.',
      },
      {
        verdict: 'The shelter',
        category: 'tent',
        place: 7,
        seller: 'basecamp-direct',
        isExclusive: false,
        text: 'Up in four minutes by one person who has done it before, and in nine by one who has not. It stood still in a wind that moved us.',
      },
      {
        verdict: 'If you must bring two',
        category: 'tent',
        place: 22,
        seller: 'windward-outfitters',
        isExclusive: false,
        text: 'Room for a friend and no room for an argument. It vents at both ends.',
      },
    ],
    closing: 'Leave the chair at home. Sit on the pack; it was bought for that.',
  },
]

/** The offer an article links to. If the seller does not carry that product, its next one. */
export function pickedOffer(pick: DemoPick): DemoOffer {
  const seller = MERCHANTS.find(({ slug }) => slug === pick.seller)
  if (seller === undefined) throw new Error(`no merchant ${pick.seller}`)
  const wanted = wantedGtin(pick)
  const needsStock = pick.isExclusive && pick.fate !== 'sold_out'
  const offers = offersOf(seller).filter(({ product }) => product.category === pick.category)
  const found =
    offers.find(
      // An exclusive link has no other target; an open one may show how links are repaired.
      ({ product, isInStock }) => product.gtin >= wanted && (isInStock || !needsStock),
    ) ?? offers[0]
  if (found === undefined) throw new Error(`${pick.seller} sells no ${pick.category}`)
  return found
}
