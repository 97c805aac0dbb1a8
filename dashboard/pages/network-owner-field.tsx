/** The user who owns an organization, searched by e-mail address. */
import { ComboboxField } from '../ui/combobox-field.tsx'
import { useUsers } from './network-names.ts'

export function OwnerField(props: { uid: number | null; onChange: (uid: number) => void }) {
  const users = useUsers()
  const options = users.data?.map(({ uid, email }) => ({ value: uid, label: email })) ?? []
  return (
    <ComboboxField
      label="Owner"
      placeholder="Search people by e-mail"
      group="People"
      options={options}
      value={props.uid}
      onChange={props.onChange}
    />
  )
}
