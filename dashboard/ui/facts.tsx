/** A few facts in small print, each behind its name. */

export type Fact = readonly [name: string, value: string]

/** Nothing where there is no value: an empty name tells nobody anything. */
export function known(name: string, value: string | null): Fact[] {
  return value === null ? [] : [[name, value]]
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1.5 text-sm">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="inline text-soft">{name} </dt>
          <dd className="number inline">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
