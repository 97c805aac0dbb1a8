/** A merchant's set-up: feed, tag, campaign, in this order, and which of them are done. */
import { Link } from '@tanstack/react-router'
import { type SetupStep, useSetup } from '../merchant-setup.ts'
import { useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { Icon } from '../ui/icon.tsx'
import { Progress } from '../ui/notice.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export function MerchantSetupPage() {
  const { merch_id: merchId, name } = useMerchant()
  const { queries, steps } = useSetup(merchId)
  const next = steps?.findIndex(({ isDone }) => !isDone) ?? -1
  return (
    <div className="max-w-3xl space-y-5">
      <Title name={name}> · Set-up</Title>
      <p className="text-soft">
        Three steps until your products compete for readers. Each is done as soon as we see it work.
      </p>
      {queries.map((query, at) =>
        query.failureReason === null ? null : <Progress key={QUERY_NAMES[at]} query={query} />,
      )}
      {steps === undefined ? (
        <TableSkeleton rows={3} />
      ) : (
        <ol className="space-y-3">
          {steps.map((step, at) => (
            <Step key={step.name} step={step} number={at + 1} isNext={at === next} />
          ))}
        </ol>
      )}
      {steps !== undefined && next === -1 && (
        <p role="status">
          All three are done. See how your campaigns fare under{' '}
          <Link to={PATHS.merchantPerformance} className="link">
            Performance
          </Link>
          .
        </p>
      )}
    </div>
  )
}

const QUERY_NAMES = ['feed', 'tag', 'campaign'] as const

function Step({ step, number, isNext }: { step: SetupStep; number: number; isNext: boolean }) {
  const { name, isDone, state, purpose, path, action } = step
  return (
    <li
      className={`panel grid grid-cols-[auto_1fr] items-start gap-x-4 gap-y-3 p-4 sm:grid-cols-[auto_1fr_auto] sm:items-center ${isNext ? 'border-accent' : ''}`}
    >
      <span
        aria-hidden="true"
        className={`flex size-8 items-center justify-center rounded-full text-sm font-semibold ${isDone ? 'bg-accent text-on-accent' : 'bg-sunk text-soft'}`}
      >
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className="min-w-0">
        <h2 className="flex flex-wrap items-center gap-2">
          {name}
          <span className={`chip ${isDone ? 'bg-tint text-accent' : ''}`}>
            {isDone ? 'Done' : isNext ? 'Next' : 'To do'}
          </span>
        </h2>
        <p className="text-sm text-soft">{purpose}</p>
        <p className="mt-1 text-sm">{state}</p>
      </div>
      <Link
        to={path}
        className={`button max-sm:col-start-2 max-sm:justify-self-start ${isNext ? 'button-main' : ''}`}
      >
        {action}
      </Link>
    </li>
  )
}

/** On the overview, until everything is done. */
export function SetupNote({ merchId }: { merchId: number }) {
  const { steps } = useSetup(merchId)
  const missing = steps?.filter(({ isDone }) => !isDone) ?? []
  if (steps === undefined || missing.length === 0) return null
  return (
    <section
      aria-label="Set-up"
      className="panel flex flex-wrap items-center justify-between gap-3 border-second bg-second-tint px-4 py-3"
    >
      <p>
        <span className="font-medium">
          Set-up: {steps.length - missing.length} of {steps.length} steps done.
        </span>{' '}
        {missing[0]?.state}
      </p>
      <Link to={PATHS.merchantSetup} className="button">
        Continue the set-up
      </Link>
    </section>
  )
}
