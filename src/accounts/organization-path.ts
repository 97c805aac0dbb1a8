/** Where the three kinds of organizations are in paths: one operation each, made once. */
import Type, { type TObject, type TProperties } from 'typebox'
import type { Tag } from './operation.ts'
import type { Organization } from './permission.ts'

export interface OrganizationPath {
  readonly kind: Organization['kind']
  /** Without the slash at its end. */
  readonly base: string
  readonly tag: Tag
  /** In operation ids: `listPublisherMembers`. */
  readonly noun: 'Publisher' | 'Merchant' | 'Network'
  readonly idParam: TProperties
}

export const ORGANIZATION_PATHS: readonly OrganizationPath[] = [
  {
    kind: 'publisher',
    base: '/api/v1/publishers/:pub_id',
    tag: 'publishers',
    noun: 'Publisher',
    idParam: { pub_id: Type.Integer() },
  },
  {
    kind: 'merchant',
    base: '/api/v1/merchants/:merch_id',
    tag: 'merchants',
    noun: 'Merchant',
    idParam: { merch_id: Type.Integer() },
  },
  { kind: 'network', base: '/api/v1/network', tag: 'network', noun: 'Network', idParam: {} },
]

/** The path's parameters: the organization, which was checked before, and these. */
export function paramsOf<Further extends TProperties>(
  { idParam }: OrganizationPath,
  further: Further,
): TObject<Further> {
  return Type.Object({ ...idParam, ...further }) as unknown as TObject<Further>
}

/** The path of a kind, for commands. */
export function pathOf(kind: Organization['kind']): OrganizationPath {
  const found = ORGANIZATION_PATHS.find((path) => path.kind === kind)
  if (found === undefined) throw new Error(`no path of ${kind}`)
  return found
}

/** The parameters that name an organization, for commands. */
export function organizationParams({ kind, id }: Organization): Record<string, number> {
  if (kind === 'network') return {}
  return kind === 'publisher' ? { pub_id: id } : { merch_id: id }
}
