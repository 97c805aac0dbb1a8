/** Turns a JSON schema into a list of fields, and into an example value. */
export interface Schema {
  readonly title?: string // of a variant: when it applies
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
}

export interface Field {
  readonly path: string // `links[].raw_url`
  readonly type: string
  readonly isRequired: boolean
  readonly rules: string
  readonly description: string
}

/** Every field of a schema, outer fields first. */
export function fieldsOf(schema: Schema, path = ''): Field[] {
  if (schema.items !== undefined) return fieldsOf(schema.items, `${path}[]`)
  const forms = schema.anyOf?.filter((one) => one.properties !== undefined || one.items) ?? []
  if (forms.length > 0) return merged(forms.map((one) => fieldsOfForm(one, path)))
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const childPath = path === '' ? name : `${path}.${name}`
    return [
      toField(childPath, child, schema.required?.includes(name) ?? false),
      ...fieldsOf(child, childPath),
    ]
  })
}

interface FormField extends Field {
  readonly form: string | undefined
}

const fieldsOfForm = (form: Schema, path: string): FormField[] =>
  fieldsOf(form, path).map((field) => ({ ...field, form: form.title }))

/**
 * Merges the fields of several variants. A field that some variants lack is optional, or names its
 * variant. Nested fields keep their own optionality.
 */
function merged(forms: readonly FormField[][]): Field[] {
  const fields = Map.groupBy(forms.flat(), ({ path }) => path)
  return [...fields].map(([path, [first, ...others]]) => {
    const { form, ...field } = first as FormField
    const same = [field, ...others]
    const [, holder = ''] = /^(.*?)(?:\[\])?\.[^.]*$/.exec(path) ?? []
    const holders = fields.get(holder)?.length ?? forms.length
    const isOnly = same.length < holders && others.length === 0 && form !== undefined
    return {
      ...field,
      type: alternatives(same.map(({ type }) => type)),
      isRequired: (isOnly || same.length === holders) && same.every((one) => one.isRequired),
      rules: listed([isOnly ? `only ${form}` : '', field.rules]),
    }
  })
}

const alternatives = (types: readonly string[]) => [...new Set(types)].join(' or ')

/** One field alone: a parameter, or an entry of an object. */
export function toField(path: string, schema: Schema, isRequired: boolean): Field {
  // For a nullable field, the other member of the union carries rules and description.
  const resolved = { ...schema.anyOf?.find(({ type }) => type !== 'null'), ...schema }
  const { description = '' } = resolved
  return { path, type: typeWord(schema), isRequired, rules: rulesOf(resolved), description }
}

function typeWord(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (schema.anyOf !== undefined) return alternatives(schema.anyOf.map(typeWord))
  if (schema.items !== undefined) return `list of ${typeWord(schema.items)}`
  if (schema.format === 'binary') return 'file'
  return schema.format === 'date-time' ? 'timestamp' : (schema.type ?? 'any')
}

function rulesOf(schema: Schema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum } = schema
  // Limits of a column type are not useful to a reader.
  const isFar = maximum !== undefined && maximum >= 2 ** 31 - 1
  const rules = [
    minLength !== undefined && minLength > 0 ? 'not empty' : '',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    minItems === undefined ? '' : `at least ${minItems}`,
    maxItems === undefined ? '' : `at most ${maxItems} entries`,
    minimum === undefined || isFar ? '' : `from ${minimum}`,
    maximum === undefined || isFar ? '' : `to ${maximum}`,
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ]
  return listed(rules)
}

export const listed = (words: readonly string[]) => words.filter((word) => word !== '').join(', ')

/**
 * Example values by field name, also of list entries. Other fields get a value by type.
 * `parent.name` applies to a field within that parent.
 */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  job_id: '0197b1a0-5f1e-7c3a-9d2b-4e8f6a7c1b2d',
  a: '7468501219893436416',
  advertiser_name: 'Kettlework',
  allow_merchants: 2,
  ar: '<auction_result.id>',
  article_name: 'Ten kettles, tested',
  article_url: 'https://magazine.example/kettles',
  'article.url': 'https://magazine.example/kettles',
  auction_id: '7468501219893436416',
  link_id: '1042',
  payment_id: '1042',
  'passkey.id': 'mJ4yV2pQ',
  rawId: 'mJ4yV2pQ',
  clientDataJSON: 'eyJ0eXBlIjoi',
  attestationObject: 'o2NmbXRk',
  authenticatorData: 'SZYN5YgO',
  signature: 'MEUCIQDx',
  userHandle: 'MTIz',
  block_merchants: 3,
  brand: 'Ostrava',
  category_floors: '222:GB=0.08',
  click: '9f86d081884c7d659a2feaa0c55ad015',
  click_ids: '9f86d081884c7d659a2feaa0c55ad015',
  currency: 'USD',
  date: '2026-03-02',
  'date.date_from': '2026-03-01 00:00:00',
  'date.date_to': '2026-03-31 00:00:00',
  delivery_id: '1001',
  date_from: '2026-03-01',
  date_to: '2026-03-31',
  event_date: '2026-03-02',
  events: 'order.attributed', // The event of a webhook. Events in a batch have properties.
  gtin: '9521000000018',
  id: 'A-1001',
  name: 'Ten kettles, tested',
  month: '2026-11',
  order_id: '1001', // The merchant's own order id, or a number where the path requires one.
  page_session_uuid: '2f1c8b52-8f3e-4f0e-9c55-3a1d9d0c7a41',
  price: '49.99',
  'product.name': 'Stagwell Kettle, 0.9 L',
  product_name: 'Stagwell Kettle, 0.9 L',
  product_url: 'https://shop.example/p/1',
  'products.id': 'K-1',
  'products.name': 'Stagwell Kettle, 0.9 L',
  publisher_slug: 'magazine',
  'returns.id': 'R-1',
  'returns.order_id': 'A-1001', // Matches the example of the order.
  // Links to the article’s own host are never smart links.
  raw_url: 'https://kettlework.example/p/1',
  since: '2026-03-01T00:00:00Z',
  slug: 'magazine',
  source_url: 'https://magazine.example/kettles',
  status: 200,
  uid_service: '4503599627370495',
  url: 'https://shop.example/p/1',
  value: '49.99', // The value of one product at its price.
  uuid: '2f1c8b52-8f3e-4f0e-9c55-3a1d9d0c7a41',
}

const TIMES: Readonly<Record<string, string>> = {
  date: '2026-03-02',
  'date-time': '2026-03-02T10:00:00Z',
}

/** A placeholder for text that only its author can know. */
const ANY_TEXT = '…'

/** A value that the schema accepts. Omits optional fields without a typical value. */
export function exampleOf(schema: Schema, name = '', holder = ''): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.examples !== undefined) return schema.examples[0]
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name, holder)
  if (schema.items !== undefined) {
    const item = exampleOf(schema.items, name, holder)
    return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => item)
  }
  if (schema.properties !== undefined) {
    return Object.fromEntries(
      Object.entries(schema.properties)
        .map(([key, child]) => [key, exampleOf(child, key, name)] as const)
        .filter(([key, value]) => value !== ANY_TEXT || schema.required?.includes(key)),
    )
  }
  const usual = EXAMPLES[`${holder}.${name}`] ?? EXAMPLES[name]
  if (usual !== undefined && isOfType(usual, schema)) return usual
  return schema.default ?? typicalOf(schema)
}

/** Some ids are numbers, others are strings. */
function isOfType(value: unknown, { type }: Schema): boolean {
  return typeof value === (type === 'integer' ? 'number' : type)
}

function typicalOf(schema: Schema): unknown {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return false
    case 'null':
      return null
    case 'string':
      return TIMES[schema.format ?? ''] ?? ANY_TEXT
    default:
      return {}
  }
}
