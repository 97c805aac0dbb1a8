/** The user who owns an organization, searched by e-mail address. */
import { Combobox } from '../ui/combobox.tsx'
import { useUsers } from './network-names.ts'

export function OwnerField(props: { uid: number | null; onChange: (uid: number) => void }) {
  const users = useUsers()
  const options = users.data?.map(({ uid, email }) => ({ value: uid, label: email })) ?? []
  return (
    <div>
      <span aria-hidden="true" className="label">
        Owner
      </span>
      <Combobox
        label="Owner"
        placeholder="Search people by e-mail"
        groups={[{ name: 'People', options }]}
        value={props.uid}
        onChange={props.onChange}
        className="button w-full"
      />
    </div>
  )
}
