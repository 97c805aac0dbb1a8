/** The panel that says whose values the examples show, and that creates a test key. */
import { callApi, type Me, type Membership } from './own-api.ts'

/** A test key outlives the reading of a page, and is not forgotten for long. */
const KEY_MS = 86_400_000
/** The scope of examples where a page names none. */
const USUAL_SCOPES = ['figures.read']

export interface PanelOptions {
  readonly kind: 'publisher' | 'merchant'
  readonly me: Me
  readonly own: readonly Membership[]
  readonly chosen: Membership | undefined
  readonly choose: (membership: Membership) => Promise<void>
  readonly onKey: (key: string) => void
}

export function makePanel(options: PanelOptions): void {
  const panel = findPanel(options.kind)
  const state = { chosen: options.chosen }
  const status = document.createElement('p')
  status.className = 'own-status'
  status.setAttribute('role', 'status')
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button button-small'
  button.textContent = 'Create a test key'
  const scopes = panel.dataset.scopes?.split(' ') ?? USUAL_SCOPES
  const update = () => {
    button.hidden = !mayCreateKey(state.chosen, scopes) || !hasKeyExample()
  }
  button.addEventListener('click', async () => {
    const { chosen } = state
    if (chosen === undefined) return
    button.disabled = true
    status.textContent = await createKey(options, chosen, scopes)
    button.disabled = false
  })
  const select = chooser(options, (membership) => {
    state.chosen = membership
    update()
  })
  panel.replaceChildren(select, button, status)
  update()
}

/** Guides have a panel. On other pages it comes before the content. */
function findPanel(kind: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`.own-panel[data-organization="${kind}"]`)
  if (found !== null) return found
  const panel = document.createElement('div')
  panel.className = 'own-panel'
  document.querySelector('main > .lead, main > h1:not(:has(+ .lead))')?.after(panel)
  return panel
}

const hasKeyExample = () => document.querySelector('[data-own="key"]') !== null

function mayCreateKey(membership: Membership | undefined, scopes: readonly string[]): boolean {
  const { permissions = [] } = membership ?? {}
  return ['keys.write', ...scopes].every((scope) => permissions.includes(scope))
}

function chooser(
  { kind, own, chosen, choose }: PanelOptions,
  onChosen: (membership: Membership) => void,
): HTMLElement {
  const label = document.createElement(own.length === 1 ? 'span' : 'label')
  label.append(`Examples for the ${kind} `)
  if (own.length === 1) {
    const name = document.createElement('strong')
    name.textContent = chosen?.name ?? ''
    label.append(name)
    return label
  }
  const select = document.createElement('select')
  for (const membership of own) {
    const option = new Option(membership.name, String(membership.organization.id))
    option.selected = membership === chosen
    select.append(option)
  }
  select.addEventListener('change', () => {
    const membership = own[select.selectedIndex]
    if (membership === undefined) return
    onChosen(membership)
    void choose(membership)
  })
  label.append(select)
  return label
}

/** Creates a key and passes it on; returns a sentence for the reader. */
async function createKey(
  { kind, me, onKey }: PanelOptions,
  { organization }: Membership,
  scopes: readonly string[],
): Promise<string> {
  try {
    const [created] = await callApi<{ key: string }>(`/api/v1/${kind}s/${organization.id}/keys/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-souk-csrf': me.csrf_token ?? '' },
      body: JSON.stringify({
        description: 'docs examples',
        scopes,
        datetime_expires: new Date(Date.now() + KEY_MS).toISOString(),
      }),
    })
    if (created === undefined) return 'The service sent no key. Try again.'
    onKey(created.key)
    return 'The examples contain your test key until you leave this page. It expires in a day.'
  } catch (error) {
    return `No key was created: ${(error as Error).message}`
  }
}
