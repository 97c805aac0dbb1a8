/** Exchange rates: the latest first, and new ones. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useAddress } from '../address.ts'
import { count, today } from '../format.ts'
import { network, type Rate } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { toast } from '../ui/toast.ts'
import { useRefresh } from './network-record.tsx'

export function RatesPage() {
  const [{ find = '' }] = useAddress()
  const pages = usePages(['network', 'rates', find], (cursor) => network.rates(cursor, find))
  const [isAdding, setAdding] = useState(false)
  const rows = pages.data?.pages.flatMap((page) => page.rows)
  return (
    <div className="space-y-4">
      <PageHead
        title="Exchange rates"
        purpose="Orders in another currency count in US dollars by the rate of their day. An order without a rate waits for one."
      >
        {useCan('network.write') && (
          <button type="button" className="button button-main" onClick={() => setAdding(true)}>
            Add a rate
          </button>
        )}
      </PageHead>
      <ReadOnlyNote permission="network.write" action="add rates" />
      <Progress query={pages} />
      {rows !== undefined && (
        <DataTable
          id="network-rates"
          label="Exchange rates"
          isBare
          rows={rows}
          keyOf={({ rate_id }) => rate_id}
          columns={COLUMNS}
          sort={{ by: 'day' }}
          empty={
            <EmptyState title="No exchange rate yet">
              Orders in US dollars need none. Add rates before merchants report other currencies.
            </EmptyState>
          }
        />
      )}
      <NextPage pages={pages} label="Earlier rates" />
      {isAdding && <NewRate onClose={() => setAdding(false)} />}
      <CommandLine
        commands={[
          {
            does: 'Import many rates, such as the history of a central bank',
            line: 'souk rates import --file rates.csv --source ECB',
          },
        ]}
      />
    </div>
  )
}

/** Significant digits of a rate in the table. */
const RATE_DIGITS = 6

const COLUMNS: readonly Column<Rate>[] = [
  { id: 'currency', head: 'Currency', value: ({ currency }) => currency },
  { id: 'day', head: 'Day', kind: 'day', value: ({ day }) => day },
  {
    ...{ id: 'rate', head: 'US dollars for one' },
    value: (one) =>
      (Number(one.usd_per_base) / Number(one.currency_per_base)).toPrecision(RATE_DIGITS),
  },
  { id: 'source', head: 'Source', value: ({ source }) => source },
  {
    ...{ id: 'added', head: 'Added', kind: 'day', isHidden: true },
    value: (one) => one.datetime_created,
  },
]

const CODE_LENGTH = 3

function useFields() {
  const [currency, setCurrency] = useState('')
  const [day, setDay] = useState(today())
  const [perDollar, setPerDollar] = useState('')
  const [source, setSource] = useState('')
  return { currency, setCurrency, day, setDay, perDollar, setPerDollar, source, setSource }
}

function NewRate({ onClose }: { onClose: () => void }) {
  const fields = useFields()
  const refresh = useRefresh()
  const add = useMutation({
    mutationFn: () => {
      const { currency, day, perDollar, source } = fields
      const rate = { day, currency: currency.toUpperCase(), currency_per_base: perDollar.trim() }
      return network.setRates({ source, rates: [rate] })
    },
    onSuccess: ({ orders_released: orders }) => {
      void toast(orders === 0 ? 'Rate added.' : `Rate added. ${count(orders)} orders now count.`)
      return refresh()
    },
  })
  return (
    <DialogForm
      title="Add a rate"
      button="Add rate"
      fields={FIELDS}
      error={add.error}
      isPending={add.isPending}
      onSubmit={() => add.mutateAsync()}
      onClose={onClose}
    >
      <Inputs fields={fields} error={add.error} />
      <p className="text-sm text-soft">
        A rate of the same day, currency and source is corrected. Converted orders keep their rate.
      </p>
    </DialogForm>
  )
}

function Inputs({ fields, error }: { fields: ReturnType<typeof useFields>; error: unknown }) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field
        name="rates[0].currency"
        label="Currency, such as EUR"
        maxLength={CODE_LENGTH}
        value={fields.currency}
        onChange={fields.setCurrency}
        error={error}
      />
      <Field
        name="rates[0].day"
        label="Day, such as 2026-03-02"
        value={fields.day}
        onChange={fields.setDay}
        error={error}
      />
      <Field
        name="rates[0].currency_per_base"
        label="Units for one US dollar"
        inputMode="decimal"
        placeholder="0.9231"
        value={fields.perDollar}
        onChange={fields.setPerDollar}
        error={error}
      />
      <Field
        name="source"
        label="Who published it"
        placeholder="ECB"
        value={fields.source}
        onChange={fields.setSource}
        error={error}
      />
    </div>
  )
}

const FIELDS = ['rates[0].currency', 'rates[0].day', 'rates[0].currency_per_base', 'source']
