/** Somebody else has saved meanwhile: a reload shows their values and drops those of the form. */
export function Conflict({ error, onReload }: { error: unknown; onReload: () => unknown }) {
  const isConflict = error instanceof Error && 'status' in error && error.status === 412
  if (!isConflict) return null
  return (
    <p className="flex flex-wrap items-center gap-3 text-sm">
      Load the present values and enter your change again.
      <button type="button" className="button button-small" onClick={() => void onReload()}>
        Load the present values
      </button>
    </p>
  )
}
