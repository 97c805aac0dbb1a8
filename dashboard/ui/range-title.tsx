/** The heading of a page about a range of days, with the choice of the range. */
import { RangePicker, type RangePickerProps } from './range-picker.tsx'
import { type Heading, Title } from './title.tsx'

export function RangeTitle({ name, children, ...picker }: Heading & RangePickerProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 *:[h1]:line-clamp-2">
      <Title {...(name === undefined ? {} : { name })}>{children ?? ''}</Title>
      <RangePicker {...picker} />
    </div>
  )
}
