/** The form of a campaign: what you pay for, how much at most, when and where; then a review. */
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { type Campaign, type CampaignBody, faultsOf } from '../api.ts'
import { Choice } from '../ui/choice.tsx'
import { Conflict } from '../ui/conflict.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'
import { CampaignPosition } from './campaign-position.tsx'
import { CampaignReview } from './campaign-review.tsx'
import { PacingCurve } from './pacing-curve.tsx'

const MODELS = [
  { value: 'cpc', label: 'Per click' },
  { value: 'cpa', label: 'Share of the order' },
  { value: 'epp', label: 'Per purchase' },
] as const
const DEVICES = ['desktop', 'mobile', 'tablet'] as const

/** The values of the fields, as typed. */
interface Fields {
  readonly bid: string
  readonly exclusive_bid: string
  readonly roas: string
  readonly rate: string // in percent
  readonly payment: string
  readonly daily_budget: string
  readonly budget: string
  readonly start: string
  readonly end: string
  readonly country: string
  readonly allow_publisher: string
  readonly block_publisher: string
}

/** What a field of this form needs, by its name. */
type FieldOf = (name: keyof Fields) => {
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: unknown
}

export function CampaignForm(props: {
  readonly merchId: number
  readonly campaign: Campaign | null
  readonly error: Error | null
  readonly isPending: boolean
  readonly onSave: (body: CampaignBody) => Promise<unknown>
  /** Opens the campaign again as it is now. */
  readonly onReload: () => void
  readonly onClose: () => void
}) {
  const { merchId, campaign, error, isPending, onSave, onReload, onClose } = props
  const [model, setModel] = useState<Model>(campaign?.model ?? 'cpc')
  const [fields, setFields] = useState(() => fieldsOf(campaign))
  const [devices, setDevices] = useState<readonly string[]>(campaign?.device ?? [])
  const [isReview, setReview] = useState(false)
  // The field with the fault is on the first step.
  useEffect(() => setReview((was) => was && faultsOf(error).length === 0), [error])
  const form = useFaultFocus(isReview ? null : error)
  const save = useOneAtATime(onSave)
  const body = bodyOf(model, fields, devices)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (campaign === null && !isReview) setReview(true)
    else await save(body)
  }
  const field: FieldOf = (name) => ({
    name,
    value: fields[name],
    onChange: (value) => setFields({ ...fields, [name]: value }),
    error,
  })
  const title = campaign === null ? 'New campaign' : `Campaign ${campaign.campaign_id}`
  return (
    <form ref={form} onSubmit={submit} aria-label={title} className="panel space-y-5 p-4">
      <h2>{isReview ? 'Is this right?' : title}</h2>
      {isReview ? (
        <CampaignReview body={body} />
      ) : (
        <>
          <Part title="What you pay for">
            <Choice
              label="What do you pay for?"
              options={MODELS}
              value={model}
              onChange={setModel}
            />
            <TermsFields model={model} field={field} />
            <CampaignPosition merchId={merchId} bid={model === 'cpc' ? fields.bid : null} />
          </Part>
          <Part title="How much, and when">
            <LimitFields field={field} />
            <PacingCurve merchId={merchId} budget={fields.daily_budget} />
          </Part>
          <Part title="Where">
            <TargetFields field={field} devices={devices} setDevices={setDevices} />
          </Part>
        </>
      )}
      <FormFailure error={error} fields={Object.keys(fields)} />
      <Conflict error={error} onReload={onReload} />
      <Buttons
        label={campaign !== null ? 'Save changes' : isReview ? 'Create campaign' : 'Review'}
        isPending={isPending}
        onBack={isReview ? () => setReview(false) : null}
        onClose={onClose}
      />
    </form>
  )
}

function Buttons(props: {
  readonly label: string
  readonly isPending: boolean
  readonly onBack: (() => void) | null
  readonly onClose: () => void
}) {
  const { label, isPending, onBack, onClose } = props
  return (
    <div className="flex flex-wrap gap-2">
      <button type="submit" className="button button-main" aria-busy={isPending}>
        {label}
      </button>
      {onBack !== null && (
        <button type="button" className="button" onClick={onBack}>
          Change it
        </button>
      )}
      <button type="button" className="button" onClick={onClose}>
        Cancel
      </button>
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="space-y-4 border-t border-line pt-4">
      <legend className="float-left mb-3 w-full font-semibold">{title}</legend>
      <div className="clear-both space-y-4">{children}</div>
    </fieldset>
  )
}

type Model = Campaign['model']

/** What is paid: the fields of the chosen model. */
function TermsFields({ model, field }: { model: Model; field: FieldOf }) {
  const decimal = { inputMode: 'decimal' } as const
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {model === 'cpc' && (
        <>
          <Field
            {...field('bid')}
            {...decimal}
            label="The most for a click, in $"
            placeholder="0.60"
          />
          <Field
            {...field('exclusive_bid')}
            {...decimal}
            label="For a click on an exclusive link, in $"
            placeholder="As above"
            isOptional
          />
          <Field
            {...field('roas')}
            {...decimal}
            label="Revenue you want per $1"
            placeholder="5"
            isOptional
          />
        </>
      )}
      {model === 'cpa' && (
        <Field {...field('rate')} {...decimal} label="Share of each order, in %" placeholder="8" />
      )}
      {model === 'epp' && (
        <Field
          {...field('payment')}
          {...decimal}
          label="For each purchase, in $"
          placeholder="4.00"
        />
      )}
    </div>
  )
}

/** How much at most, and when. */
function LimitFields({ field }: { field: FieldOf }) {
  const money = { inputMode: 'decimal', isOptional: true } as const
  const day = { placeholder: '2026-12-31', maxLength: 10, isOptional: true } as const
  return (
    <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
      <Field {...field('daily_budget')} {...money} label="Budget per day, in $" placeholder="200" />
      <Field {...field('budget')} {...money} label="Budget in total, in $" placeholder="5000" />
      <Field {...field('start')} {...day} label="First day" />
      <Field {...field('end')} {...day} label="Last day" />
    </div>
  )
}

function TargetFields(props: {
  readonly field: FieldOf
  readonly devices: readonly string[]
  readonly setDevices: (devices: readonly string[]) => void
}) {
  const { field, devices, setDevices } = props
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        {...field('country')}
        label="Countries, as two letters"
        placeholder="DE, AT; empty: all"
        isOptional
      />
      <DeviceBoxes devices={devices} onChange={setDevices} />
      <Field
        {...field('allow_publisher')}
        label="Only these publishers, by number"
        placeholder="All"
        isOptional
      />
      <Field
        {...field('block_publisher')}
        label="Never these publishers, by number"
        placeholder="None"
        isOptional
      />
    </div>
  )
}

function DeviceBoxes(props: {
  readonly devices: readonly string[]
  readonly onChange: (devices: readonly string[]) => void
}) {
  const { devices, onChange } = props
  const set = (device: string, isChosen: boolean) =>
    onChange(isChosen ? [...devices, device] : devices.filter((one) => one !== device))
  return (
    <fieldset>
      <legend className="label">Devices (optional)</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-2 py-2 text-sm">
        {DEVICES.map((device) => (
          <label key={device} className="flex items-center gap-2 capitalize">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={devices.includes(device)}
              onChange={({ target }) => set(device, target.checked)}
            />
            {device}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function fieldsOf(campaign: Campaign | null): Fields {
  const rate = campaign?.rate ?? null
  return {
    bid: campaign?.bid ?? '',
    exclusive_bid: campaign?.exclusive_bid ?? '',
    roas: String(campaign?.roas ?? ''),
    rate: rate === null ? '' : String(Number((rate * 100).toFixed(4))),
    payment: campaign?.payment ?? '',
    daily_budget: campaign?.daily_budget ?? '',
    budget: campaign?.budget ?? '',
    start: campaign?.start?.slice(0, 10) ?? '',
    end: lastDayOf(campaign?.end ?? null),
    country: campaign?.country.join(', ') ?? '',
    allow_publisher: campaign?.allow_publisher.join(', ') ?? '',
    block_publisher: campaign?.block_publisher.join(', ') ?? '',
  }
}

const DAY_MS = 86_400_000

/** A campaign ends at a moment; people think of its last day. */
function lastDayOf(end: string | null): string {
  return end === null ? '' : new Date(Date.parse(end) - 1).toISOString().slice(0, 10)
}

function endOf(lastDay: string): string | null {
  if (lastDay.trim() === '') return null
  const ms = Date.parse(`${lastDay.trim()}T00:00:00Z`)
  // The service says what is wrong with another text.
  return Number.isNaN(ms) ? lastDay : new Date(ms + DAY_MS).toISOString()
}

function bodyOf(
  model: Campaign['model'],
  fields: Fields,
  devices: readonly string[],
): CampaignBody {
  const text = (value: string) => (value.trim() === '' ? null : value.trim())
  const number = (value: string) => (text(value) === null ? null : Number(value))
  const percentage = number(fields.rate)
  return {
    model,
    bid: model === 'cpc' ? text(fields.bid) : null,
    exclusive_bid: model === 'cpc' ? text(fields.exclusive_bid) : null,
    roas: model === 'cpc' ? number(fields.roas) : null,
    rate: model === 'cpa' && percentage !== null ? percentage / 100 : null,
    payment: model === 'epp' ? text(fields.payment) : null,
    daily_budget: text(fields.daily_budget),
    budget: text(fields.budget),
    start: fields.start.trim() === '' ? null : `${fields.start.trim()}T00:00:00Z`,
    end: endOf(fields.end),
    country: wordsOf(fields.country).map((code) => code.toUpperCase()),
    allow_publisher: wordsOf(fields.allow_publisher).map(Number),
    block_publisher: wordsOf(fields.block_publisher).map(Number),
    device: [...devices],
  }
}

const wordsOf = (text: string): string[] => text.split(/[\s,;]+/).filter((word) => word !== '')
