/** Explains a word or a button on hover and focus. Never the only place of an information. */
import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactNode } from 'react'
import { POPUP } from './popup.ts'

export function Tooltip(props: { text: string; children: ReactNode }) {
  return (
    <Base.Root>
      <Base.Trigger
        type="button"
        className="cursor-help underline decoration-edge decoration-dotted underline-offset-2"
      >
        {props.children}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-40">
          <Base.Popup className={`${POPUP} max-w-xs px-3 py-2 text-xs`}>{props.text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
