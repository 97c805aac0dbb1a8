/** Finds a page, an organization, a link or an order, by keyboard alone. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { type Find, type FindGroup, ownFinds } from '../finds.ts'
import { useChosen } from '../organization.ts'
import { useRecordFinds } from '../record-finds.ts'
import { useMe } from '../session.ts'
import { Icon } from './icon.tsx'
import { BACKDROP, GROUP_LABEL, ITEM, POPUP } from './popup.ts'

export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const wanted = useDeferredValue(text.trim())
  const { data: me } = useMe()
  const chosen = useChosen() ?? null
  const own = ownFinds(me?.memberships ?? [], chosen, wanted)
  const records = useRecordFinds(wanted)
  const groups = [...own, ...records.groups]
  const open = ({ to, params = {}, search }: Find) => {
    onClose()
    // The address comes from the tables of pages, not from literals that the compiler could check.
    void navigate({ to, params, search } as never)
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={BACKDROP} />
        <Dialog.Viewport className="fixed inset-0 z-30 flex items-start justify-center p-3 pt-[12vh]">
          <Dialog.Popup
            aria-label="Search"
            className={`${POPUP} flex max-h-[min(34rem,76dvh)] w-full max-w-xl flex-col`}
          >
            <Autocomplete.Root
              open
              inline
              items={groups}
              filter={null}
              value={text}
              onValueChange={(value) => setText(value)}
              autoHighlight="always"
              keepHighlight
            >
              <div className="flex items-center gap-2 border-b border-line px-3 text-soft">
                <Icon name="search" />
                <Autocomplete.Input
                  aria-label="Search"
                  placeholder="Go to a page, link, order or organization"
                  className="h-12 w-full bg-transparent text-ink outline-none"
                />
                <Dialog.Close className="sr-only">Close</Dialog.Close>
              </div>
              <FindList onOpen={open} />
              <p role="status" className="px-4 py-3 text-sm text-soft empty:hidden">
                {records.isSearching
                  ? 'Searching …'
                  : groups.length === 0
                    ? `Nothing found for “${wanted}”. Check the spelling, or paste a whole ID.`
                    : ''}
              </p>
            </Autocomplete.Root>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function FindList({ onOpen }: { onOpen: (find: Find) => void }) {
  return (
    <Autocomplete.List className="min-h-0 overflow-y-auto p-1.5 outline-none empty:hidden">
      {(group: FindGroup) => (
        <Autocomplete.Group key={group.value} items={group.items}>
          <Autocomplete.GroupLabel className={GROUP_LABEL}>{group.value}</Autocomplete.GroupLabel>
          <Autocomplete.Collection>
            {(find: Find) => (
              <Autocomplete.Item
                key={find.key}
                value={find}
                className={ITEM}
                onClick={() => onOpen(find)}
              >
                <bdi className="min-w-0 grow truncate">{find.label}</bdi>
                <bdi className="max-w-[45%] truncate text-xs text-soft">{find.note}</bdi>
              </Autocomplete.Item>
            )}
          </Autocomplete.Collection>
        </Autocomplete.Group>
      )}
    </Autocomplete.List>
  )
}
