/** Clicks that were found invalid later, and the reversal of another one. */
import { useMutation } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { count } from '../format.ts'
import { network, type ReversedClick } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { ChoiceField } from '../ui/choice-field.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { toast } from '../ui/toast.ts'
import {
  useMerchantNames,
  useMerchants,
  usePublisherNames,
  usePublishers,
} from './network-names.ts'
import { useRefresh } from './network-record.tsx'

export function ReversalsPage() {
  const pages = usePages(['network', 'reversals'], network.reversals)
  const [isOpen, setOpen] = useState(false)
  const columns = useColumns()
  const rows = pages.data?.pages.flatMap((page) => page.rows)
  return (
    <div className="space-y-4">
      <PageHead
        title="Reversals"
        purpose="A reversed click is refunded to its merchant and no longer earns. Both see the reason."
      >
        {useCan('network.write') && (
          <button type="button" className="button button-main" onClick={() => setOpen(true)}>
            Reverse clicks
          </button>
        )}
      </PageHead>
      <ReadOnlyNote permission="network.write" action="reverse clicks" />
      <Progress query={pages} />
      {rows !== undefined && (
        <DataTable
          id="network-reversals"
          label="Reversed clicks"
          isBare
          rows={rows}
          keyOf={({ reversal_id, click_id }) => `${reversal_id} ${click_id}`}
          columns={columns}
          sort={{ by: 'reversed' }}
          empty={
            <EmptyState title="No click was reversed" icon="check">
              Reverse a click when you learn later that it was not a reader’s.
            </EmptyState>
          }
        />
      )}
      <NextPage pages={pages} label="Earlier reversals" />
      {isOpen && <ReverseForm onClose={() => setOpen(false)} />}
      <CommandLine
        commands={[
          { does: 'Reverse a click', line: "souk reverse --click <ID> --reason '<reason>'" },
          {
            does: 'Reverse all clicks of an auction result',
            line: "souk reverse --result <NUMBER> --reason '<reason>'",
          },
        ]}
      />
    </div>
  )
}

function useColumns(): readonly Column<ReversedClick>[] {
  const [publishers, merchants] = [usePublishers().data, useMerchants().data]
  const [publisher, merchant] = [usePublisherNames(), useMerchantNames()]
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names are those of the lists.
  return useMemo(
    () => [
      { id: 'click', head: 'Click', value: ({ click_id }) => click_id },
      { id: 'reversed', head: 'Reversed', kind: 'day', value: (one) => one.datetime_created },
      { id: 'publisher', head: 'Publisher', value: ({ pub_id }) => publisher(pub_id) },
      { id: 'merchant', head: 'Merchant', value: ({ merch_id }) => merchant(merch_id) },
      { id: 'cost', head: 'Refunded', kind: 'money', isSum: true, value: (one) => one.cost_usd },
      {
        ...{ id: 'earned', head: 'Earnings lost', kind: 'money', isSum: true },
        value: (one) => one.earnings_usd,
      },
      { id: 'reason', head: 'Reason', value: ({ reason }) => reason },
      {
        ...{ id: 'clicked', head: 'Clicked', kind: 'day', isHidden: true },
        value: (one) => one.clicked_at,
      },
    ],
    [publishers, merchants],
  )
}

const REASON_LENGTH_MAX = 255

function ReverseForm({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<'click' | 'result'>('click')
  const [id, setId] = useState('')
  const [reason, setReason] = useState('')
  const refresh = useRefresh()
  const reverse = useMutation({
    mutationFn: () => network.reverseClicks({ [kind]: id.trim(), reason }),
    onSuccess: ({ clicks }) => {
      void toast(clicks.length === 1 ? 'Click reversed.' : `${count(clicks.length)} reversed.`)
      return refresh()
    },
  })
  const { error } = reverse
  return (
    <DialogForm
      title="Reverse clicks"
      button="Reverse"
      fields={[kind, 'reason']}
      error={error}
      isPending={reverse.isPending}
      isDangerous
      onSubmit={() => reverse.mutateAsync()}
      onClose={onClose}
    >
      <ChoiceField
        name="kind"
        label="Which clicks?"
        options={[
          { value: 'click', label: 'One click' },
          { value: 'result', label: 'All clicks of an auction result' },
        ]}
        value={kind}
        onChange={setKind}
        error={null}
      />
      <Field
        name={kind}
        label={kind === 'click' ? 'ID of the click' : 'Number of the auction result'}
        autoCapitalize="none"
        value={id}
        onChange={setId}
        error={error}
      />
      <Field
        name="reason"
        label="Why? Publisher and merchant read it."
        maxLength={REASON_LENGTH_MAX}
        value={reason}
        onChange={setReason}
        error={error}
      />
    </DialogForm>
  )
}
