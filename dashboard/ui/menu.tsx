/** A menu of actions behind a button. */
import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'
import { GROUP_LABEL, ITEM, POPUP } from './popup.ts'

export function Menu(props: {
  /** The name of the button, for screen readers. */
  label: string
  button: ReactNode
  className?: string
  children: ReactNode
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger aria-label={props.label} className={props.className ?? 'button button-small'}>
        {props.button}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} className="z-30 outline-none">
          <Base.Popup
            className={`${POPUP} max-h-(--available-height) min-w-52 overflow-y-auto p-1.5`}
          >
            {props.children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

export function MenuItem(props: {
  onSelect: () => void
  isDisabled?: boolean
  children: ReactNode
}) {
  return (
    <Base.Item
      className={ITEM}
      disabled={props.isDisabled === true}
      onClick={() => props.onSelect()}
    >
      {props.children}
    </Base.Item>
  )
}

/** One of a few values, such as the colour scheme. */
export function MenuChoice<T extends string>(props: {
  label: string
  options: readonly { readonly value: T; readonly label: string }[]
  value: T
  onChange: (value: T) => void
}) {
  return (
    <Base.RadioGroup value={props.value} onValueChange={(value: T) => props.onChange(value)}>
      <Base.GroupLabel className={GROUP_LABEL}>{props.label}</Base.GroupLabel>
      {props.options.map(({ value, label }) => (
        <Base.RadioItem key={value} value={value} closeOnClick className={ITEM}>
          <span className="grow">{label}</span>
          <Base.RadioItemIndicator>
            <Icon name="check" size={14} />
          </Base.RadioItemIndicator>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  )
}

/** One of several that are on or off, such as a column. The menu stays open. */
export function MenuSwitch(props: {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
}) {
  return (
    <Base.CheckboxItem
      className={ITEM}
      checked={props.isOn}
      closeOnClick={false}
      onCheckedChange={(isOn) => props.onChange(isOn)}
    >
      <span className="grow">{props.label}</span>
      <Base.CheckboxItemIndicator>
        <Icon name="check" size={14} />
      </Base.CheckboxItemIndicator>
    </Base.CheckboxItem>
  )
}

export const MenuLine = () => <Base.Separator className="my-1.5 border-t border-line" />
