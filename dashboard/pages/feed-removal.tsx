/** Stops fetching a feed, after a question. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { merchantApi } from '../merchant-api.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Failure } from '../ui/notice.tsx'

export function ConfirmRemoval({ merchId }: { merchId: number }) {
  const client = useQueryClient()
  const line = useRef<HTMLDivElement>(null)
  const remove = useMutation({
    mutationFn: () => merchantApi.deleteFeedSource(merchId),
    onSuccess: () => client.invalidateQueries({ queryKey: ['feed source', merchId] }),
  })
  return (
    <div ref={line} tabIndex={-1} className="space-y-2 outline-none">
      <ConfirmButton
        label="Stop fetching"
        full="Stop fetching this feed"
        question="Products stop competing 24 hours after the last import."
        sure="Stop fetching"
        line={line}
        onConfirm={() => remove.mutate()}
      />
      {remove.error !== null && <Failure error={remove.error} />}
    </div>
  )
}
