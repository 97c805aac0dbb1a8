import { Fragment } from 'react'

/** Names side by side, each in its own direction. Otherwise two Arabic names would swap places. */
export function Parts({ of }: { of: readonly (string | null)[] }) {
  const parts = [...new Set(of)].filter((part) => part !== null)
  return parts.map((part) => (
    <Fragment key={part}>
      {part !== parts[0] && ' · '}
      <bdi>{part}</bdi>
    </Fragment>
  ))
}
