/** The signed-in person: account, colour scheme, log-out. */
import { useNavigate } from '@tanstack/react-router'
import type { User } from '../api.ts'
import { PATHS } from '../paths.ts'
import { useChosenScheme } from '../scheme.ts'
import { useLogOut } from '../session.ts'
import { Icon } from './icon.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from './menu.tsx'
import { Failure } from './notice.tsx'

const SCHEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

export function AccountMenu({ me }: { me: User }) {
  const logOut = useLogOut()
  const navigate = useNavigate()
  const [scheme, choose] = useChosenScheme()
  return (
    <div className="print:hidden">
      <Menu
        label="Account menu"
        className="button button-small button-quiet"
        button={<Icon name="person" />}
      >
        <p className="max-w-64 truncate px-2.5 py-1.5 text-sm">
          {me.name !== '' && <bdi className="block truncate font-medium">{me.name}</bdi>}
          <bdi className="block truncate text-soft">{me.email}</bdi>
        </p>
        <MenuLine />
        <MenuItem onSelect={() => void navigate({ to: PATHS.account })}>Your account</MenuItem>
        <MenuLine />
        <MenuChoice label="Colours" options={SCHEMES} value={scheme} onChange={choose} />
        <MenuLine />
        <MenuItem isDisabled={logOut.isPending} onSelect={() => logOut.mutate()}>
          Log out
        </MenuItem>
      </Menu>
      {logOut.error !== null && (
        <div className="fixed inset-x-4 top-16 z-20 mx-auto max-w-lg">
          <Failure error={logOut.error} />
        </div>
      )}
    </div>
  )
}
