/** What one may do with a link, in the row of a table or on its own page. */
import { useState } from 'react'
import { useCan } from '../organization.ts'
import type { Link } from '../publisher-api.ts'
import { copyText } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { toast } from '../ui/toast.ts'
import { LinkDialog, useLinkChange } from './link-edit.tsx'

type Named = Pick<Link, 'auction_id' | 'smart_link_url' | 'state'>

export function LinkMenu({ link, name }: { link: Named; name: string }) {
  const { auction_id: id, state } = link
  const canChange = useCan('links.write')
  const [isEditing, setEditing] = useState(false)
  const turn = useLinkChange(id)
  const isActive = state === 'active'
  const setState = async () => {
    try {
      await turn.mutateAsync({ change: { state: isActive ? 'disabled' : 'active' } })
      void toast(isActive ? 'Disabled. Readers go to the product page.' : 'Enabled.')
    } catch {
      // Shown beside the button.
    }
  }
  return (
    <>
      {turn.error !== null && (
        <span role="alert" className="mr-2 text-bad">
          {turn.error.message}
        </span>
      )}
      <Menu
        label={`Actions for ${name}`}
        button={<Icon name="more" />}
        className="button button-small button-quiet"
      >
        <MenuItem onSelect={() => void copy(link.smart_link_url)}>Copy link</MenuItem>
        {canChange && (
          <>
            <MenuItem onSelect={() => setEditing(true)}>Edit …</MenuItem>
            <MenuLine />
            <MenuItem onSelect={() => void setState()} isDisabled={turn.isPending}>
              {isActive ? 'Disable' : 'Enable'}
            </MenuItem>
          </>
        )}
      </Menu>
      <LinkDialog id={id} isOpen={isEditing} onClose={() => setEditing(false)} />
    </>
  )
}

async function copy(url: string): Promise<void> {
  void toast((await copyText(url)) ? 'Copied.' : 'Copying failed. Select the link on its page.')
}
