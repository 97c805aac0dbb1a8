/** The form of a campaign: what you pay for, how much at most, when and where. */
import { type FormEvent, useState } from 'react'
import type { Campaign, CampaignBody } from '../api.ts'
import { Choice } from '../ui/choice.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

const MODELS = [
  { value: 'cpc', label: 'Per click' },
  { value: 'cpa', label: 'Share of the order' },
  { value: 'epp', label: 'Per purchase' },
] as const
const DEVICES = ['desktop', 'mobile', 'tablet'] as const

/** The values of the fields, as typed. */
interface Fields {
  readonly bid: string
  readonly roas: string
  readonly rate: string // in percent
  readonly payment: string
  readonly daily_budget: string
  readonly budget: string
  readonly start: string
  readonly end: string
  readonly country: string
}

/** What a field of this form needs, by its name. */
type FieldOf = (name: keyof Fields) => {
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: unknown
}

export function CampaignForm(props: {
  readonly campaign: Campaign | null
  readonly error: Error | null
  readonly isPending: boolean
  readonly onSave: (body: CampaignBody) => Promise<unknown>
  readonly onClose: () => void
}) {
  const { campaign, error, isPending, onSave, onClose } = props
  const [model, setModel] = useState<Model>(campaign?.model ?? 'cpc')
  const [fields, setFields] = useState(() => fieldsOf(campaign))
  const [devices, setDevices] = useState<readonly string[]>(campaign?.device ?? [])
  const form = useFaultFocus(error)
  const save = useOneAtATime(onSave)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await save(bodyOf(model, fields, devices))
  }
  const field: FieldOf = (name) => ({
    name,
    value: fields[name],
    onChange: (value) => setFields({ ...fields, [name]: value }),
    error,
  })
  const title = campaign === null ? 'New campaign' : `Campaign ${campaign.campaign_id}`
  return (
    <form ref={form} onSubmit={submit} aria-label={title} className="panel space-y-4 p-4">
      <h2>{title}</h2>
      <div>
        <p className="label">What do you pay for?</p>
        <Choice label="What do you pay for?" options={MODELS} value={model} onChange={setModel} />
      </div>
      <TermsFields model={model} field={field} />
      <div className="grid gap-4 sm:grid-cols-2">
        <LimitFields field={field} />
        <DeviceBoxes devices={devices} onChange={setDevices} />
      </div>
      <FormFailure error={error} fields={Object.keys(fields)} />
      <div className="flex gap-2">
        <button type="submit" className="button button-main" aria-busy={isPending}>
          {campaign === null ? 'Create campaign' : 'Save changes'}
        </button>
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
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

/** How much at most, when, and where. */
function LimitFields({ field }: { field: FieldOf }) {
  const money = { inputMode: 'decimal', isOptional: true } as const
  const day = { type: 'date', max: '9999-12-31', isOptional: true } as const
  return (
    <>
      <Field {...field('daily_budget')} {...money} label="Budget per day, in $" placeholder="200" />
      <Field {...field('budget')} {...money} label="Budget in total, in $" placeholder="5000" />
      <Field {...field('start')} {...day} label="First day" />
      <Field {...field('end')} {...day} label="Last day" />
      <Field
        {...field('country')}
        label="Countries, as two letters"
        placeholder="DE, AT"
        isOptional
      />
    </>
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
    roas: String(campaign?.roas ?? ''),
    rate: rate === null ? '' : String(Number((rate * 100).toFixed(4))),
    payment: campaign?.payment ?? '',
    daily_budget: campaign?.daily_budget ?? '',
    budget: campaign?.budget ?? '',
    start: campaign?.start?.slice(0, 10) ?? '',
    end: lastDayOf(campaign?.end ?? null),
    country: campaign?.country.join(', ') ?? '',
  }
}

const DAY_MS = 86_400_000

/** A campaign ends at a moment; people think of its last day. */
function lastDayOf(end: string | null): string {
  return end === null ? '' : new Date(Date.parse(end) - 1).toISOString().slice(0, 10)
}

function endOf(lastDay: string): string | null {
  const ms = Date.parse(lastDay)
  return Number.isNaN(ms) ? null : new Date(ms + DAY_MS).toISOString()
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
    roas: model === 'cpc' ? number(fields.roas) : null,
    rate: model === 'cpa' && percentage !== null ? percentage / 100 : null,
    payment: model === 'epp' ? text(fields.payment) : null,
    daily_budget: text(fields.daily_budget),
    budget: text(fields.budget),
    start: fields.start === '' ? null : `${fields.start}T00:00:00Z`,
    end: endOf(fields.end),
    country: fields.country
      .split(/[\s,;]+/)
      .filter((code) => code !== '')
      .map((code) => code.toUpperCase()),
    device: [...devices],
  }
}
