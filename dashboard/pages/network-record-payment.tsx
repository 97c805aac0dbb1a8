/** Records a merchant's payment, and shows the earnings that it releases. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { dollars, today } from '../format.ts'
import { network } from '../network-api.ts'
import { ComboboxField } from '../ui/combobox-field.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { useMerchants, usePublisherNames } from './network-names.ts'
import { ReadOnlyRecord, useRefresh } from './network-record.tsx'

type Recorded = Awaited<ReturnType<typeof network.recordPayment>>

function useFields(payer: number | null) {
  const [merchId, setMerchId] = useState(payer)
  const [amount, setAmount] = useState('')
  const [day, setDay] = useState(today())
  const [reference, setReference] = useState('')
  return { merchId, setMerchId, amount, setAmount, day, setDay, reference, setReference }
}

export function RecordPayment({ payer, onClose }: { payer: number | null; onClose: () => void }) {
  const fields = useFields(payer)
  const refresh = useRefresh()
  const record = useMutation({
    mutationFn: () => {
      const { merchId, amount, day, reference } = fields
      const wanted = { amount_usd: amount.trim(), paid_on: day, reference }
      return network.recordPayment({ merch_id: merchId ?? 0, ...wanted })
    },
    onSuccess: refresh,
  })
  if (record.data !== undefined) return <Released recorded={record.data} onClose={onClose} />
  return (
    <DialogForm
      title="Record a payment"
      button="Record payment"
      fields={['amount_usd', 'paid_on', 'reference']}
      error={record.error}
      isPending={record.isPending}
      onSubmit={() => record.mutateAsync()}
      onClose={onClose}
      onDone={() => undefined} // The window shows the earnings that the payment releases.
    >
      <Inputs fields={fields} error={record.error} />
    </DialogForm>
  )
}

function Inputs({ fields, error }: { fields: ReturnType<typeof useFields>; error: unknown }) {
  const { data: merchants = [] } = useMerchants()
  const options = merchants.map(({ merch_id, name }) => ({ value: merch_id, label: name }))
  return (
    <>
      <ComboboxField
        label="Merchant"
        placeholder="Search merchants"
        group="Merchants"
        options={options}
        value={fields.merchId}
        onChange={fields.setMerchId}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          name="amount_usd"
          label="Amount, $"
          inputMode="decimal"
          placeholder="1250.00"
          value={fields.amount}
          onChange={fields.setAmount}
          error={error}
        />
        <Field
          name="paid_on"
          label="Day, such as 2026-03-02"
          value={fields.day}
          onChange={fields.setDay}
          error={error}
        />
      </div>
      <Field
        name="reference"
        label="The bank’s reference"
        value={fields.reference}
        onChange={fields.setReference}
        error={error}
      />
    </>
  )
}

function Released({ recorded, onClose }: { recorded: Recorded; onClose: () => void }) {
  const nameOf = usePublisherNames()
  const { amount_usd, releases, owed_usd, credit_usd } = recorded
  return (
    <ReadOnlyRecord title={`Payment of ${dollars(amount_usd)} recorded`} onClose={onClose}>
      <div role="status" className="space-y-2 text-sm">
        {releases.length === 0 ? (
          <p>It releases no earnings yet.</p>
        ) : (
          <>
            <p>It releases earnings of:</p>
            <ul className="space-y-1">
              {releases.map(({ pub_id, earnings_usd }) => (
                <li key={pub_id} className="flex justify-between gap-4">
                  <bdi>{nameOf(pub_id)}</bdi>
                  <span className="number">{dollars(earnings_usd)}</span>
                </li>
              ))}
            </ul>
          </>
        )}
        <p>
          The merchant now owes {dollars(owed_usd)}
          {Number(credit_usd) === 0 ? '' : ` and has a credit of ${dollars(credit_usd)}`}.
        </p>
      </div>
      <button type="button" className="button button-main" onClick={onClose}>
        Done
      </button>
    </ReadOnlyRecord>
  )
}
