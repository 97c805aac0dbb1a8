/** Lists API keys, active ones first. Disabling a key asks for confirmation. */
import { useRef, useState } from 'react'
import { date, time } from '../format.ts'
import type { ApiKey } from '../people-api.ts'
import { useMe } from '../session.ts'

export function KeyList(props: { keys: readonly ApiKey[]; onDisable: (tokenId: number) => void }) {
  const { keys, onDisable } = props
  if (keys.length === 0)
    return <p className="text-soft">No API keys yet. Create your first key above.</p>
  const sorted = keys.toSorted(
    (one, other) =>
      Number(isWorking(other)) - Number(isWorking(one)) || other.token_id - one.token_id,
  )
  return (
    <ul className="panel divide-y divide-line">
      {sorted.map((key) => (
        <KeyLine key={key.token_id} record={key} onDisable={onDisable} />
      ))}
    </ul>
  )
}

function KeyLine(props: { record: ApiKey; onDisable: (tokenId: number) => void }) {
  const { record, onDisable } = props
  const [isAsking, setAsking] = useState(false)
  const line = useRef<HTMLLIElement>(null)
  const isMine = useMe().data?.uid === record.uid
  return (
    <li ref={line} tabIndex={-1} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className={`min-w-0 grow ${isWorking(record) ? '' : 'text-soft'}`}>
        <p className="font-medium">
          <bdi>{record.description}</bdi>
        </p>
        <p className="number text-sm wrap-anywhere text-soft">{story(record, isMine)}</p>
      </div>
      {!isWorking(record) && <span className="chip">{stateOf(record)}</span>}
      {isWorking(record) && (
        <div className="flex flex-wrap items-center gap-2 text-sm">
          {isAsking && (
            <>
              <span role="status">
                The key stops working immediately. You cannot enable it again.
              </span>
              <button
                type="button"
                className="button button-small border-bad text-bad"
                onClick={() => {
                  line.current?.focus() // The buttons disappear, so move the focus here.
                  onDisable(record.token_id)
                }}
              >
                Disable it
              </button>
            </>
          )}
          {/* One button for both states keeps the keyboard focus. */}
          <button
            type="button"
            className="button button-small"
            aria-label={isAsking ? undefined : `Disable ${record.description}`}
            onClick={() => setAsking(!isAsking)}
          >
            {isAsking ? 'Cancel' : 'Disable'}
          </button>
        </div>
      )}
    </li>
  )
}

function isWorking({ is_enabled_by_user, datetime_expires }: ApiKey): boolean {
  return is_enabled_by_user && !isPast(datetime_expires)
}

function isPast(instant: string | null): boolean {
  return instant !== null && Date.parse(instant) <= Date.now()
}

const stateOf = (key: ApiKey): string => (key.is_enabled_by_user ? 'Expired' : 'Disabled')

function story(key: ApiKey, isMine: boolean): string {
  const { datetime_created, datetime_last_used: used, datetime_expires: expires } = key
  return [
    `Created ${date(datetime_created)}`,
    used === null ? 'never used' : `last used ${date(used)}, ${time(used)} UTC`,
    ...(expires === null
      ? []
      : [`${isPast(expires) ? 'worked' : 'works'} until ${date(expires)}, ${time(expires)} UTC`]),
    ...(isMine ? [] : [`of ${key.email}`]),
    ...(key.organization === null ? ['for the whole account'] : []),
    ...(key.scopes === null ? [] : [`only ${key.scopes.join(', ')}`]),
  ].join(' · ')
}
