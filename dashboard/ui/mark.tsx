/** The mark of Souk: a market's arch with a coin. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 32 32" className="shrink-0">
      <rect width="32" height="32" rx="7" className="fill-brand" />
      <path
        d="M7.5 25.5V15a8.5 8.5 0 0 1 17 0v10.5M5.5 25.5h4m13 0h4"
        fill="none"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
      <circle cx="16" cy="16.5" r="4" className="fill-coin" />
    </svg>
  )
}
