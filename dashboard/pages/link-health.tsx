/** The state of a link in words, with a picture. */
import type { Link } from '../publisher-api.ts'
import { Icon, type IconName } from '../ui/icon.tsx'

interface State {
  readonly label: string
  readonly icon: IconName
  readonly tone: string
  /** Why the link earns nothing, and how to change that. */
  readonly advice: string
}

const GOOD = 'bg-tint text-accent'
const ATTENTION = 'bg-second-tint text-second'
const BAD = 'bg-bad-tint text-bad'

export const HEALTH: Readonly<Record<Link['health'], State>> = {
  earning: {
    ...{ label: 'Earns', icon: 'check', tone: GOOD },
    advice: 'A merchant that has the product in stock pays for its clicks.',
  },
  new: {
    ...{ label: 'New', icon: 'calendar', tone: '' },
    advice: 'A merchant would pay for its clicks. Nobody has clicked it yet.',
  },
  no_bid: {
    ...{ label: 'No merchant pays', icon: 'alert', tone: ATTENTION },
    advice:
      'No merchant that sells this product pays for clicks at present. Link to a similar product, ' +
      'or check in your settings whether you exclude its merchants.',
  },
  out_of_stock: {
    ...{ label: 'Out of stock', icon: 'empty', tone: ATTENTION },
    advice:
      'No merchant has the product in stock. The link earns again once one does; until then, a ' +
      'similar product would earn.',
  },
  dead: {
    ...{ label: 'Page is gone', icon: 'offline', tone: BAD },
    advice: 'The product page does not open any more. Change the URL of the link.',
  },
  disabled: {
    ...{ label: 'Disabled', icon: 'lock', tone: BAD },
    advice: 'The link leads readers to its URL without an auction. Enable it to earn again.',
  },
}

export function HealthChip({ health }: { health: Link['health'] }) {
  const { label, icon, tone } = HEALTH[health]
  return (
    <span className={`chip gap-1 ${tone}`}>
      <Icon name={icon} size={12} />
      {label}
    </span>
  )
}
