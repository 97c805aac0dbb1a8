/** Small pictures in the colour of the text. Words beside them name the same. */

const SHAPES = {
  menu: 'M2 4h12M2 8h12M2 12h12',
  search: 'M11 11l3.5 3.5M7 12.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11z',
  close: 'M3.5 3.5l9 9m0-9l-9 9',
  check: 'M2.5 8.5l3.5 3.5 7.5-8',
  updown: 'M4.5 6L8 2.5 11.5 6M4.5 10L8 13.5 11.5 10',
  down: 'M3.5 6L8 10.5 12.5 6',
  left: 'M10 3L5 8l5 5',
  right: 'M6 3l5 5-5 5',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  person: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14.5a5.5 5.5 0 0 1 11 0',
  calendar: 'M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2v3m5-3v3',
  columns: 'M2 3h12v10H2zM6 3v10m4-10v10',
  download: 'M8 2v8m-3.5-3.5L8 10l3.5-3.5M2.5 13.5h11',
  filter: 'M2 3h12L9.5 8.5V13l-3-1.5v-3z',
  alert: 'M8 2L1.5 13.5h13zM8 6.5v3.5m0 1.5v.5',
  lock: 'M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  offline:
    'M2 2l12 12M4.5 8a6 6 0 0 1 2-1.3M1.5 5.2A10 10 0 0 1 4 3.8M8 4a9 9 0 0 1 6.5 2.2M8 13h.01',
  empty: 'M2 9l2-6h8l2 6v4H2zM2 9h3.5l1 1.5h3l1-1.5H14',
  picture: 'M2 3h12v10H2zM2 11l3.5-3.5 3 3L11 8l3 3M6 6h.01',
} as const

export type IconName = keyof typeof SHAPES

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      className="shrink-0"
    >
      <path d={SHAPES[name]} />
    </svg>
  )
}
