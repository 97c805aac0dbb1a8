/** A list of names and values in small print. */

export type Fact = readonly [name: string, value: string]

/** Leaves out facts without a value. */
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
