/** So often a range is halved: to a part in 10¹⁵ of it, as fine as numbers are. */
const HALVINGS = 50

/** The number of a range up to which `isTooLow` holds, and above which it does not. */
export function turningPoint(
  range: { readonly least: number; readonly most: number },
  isTooLow: (value: number) => boolean,
): number {
  let { least, most } = range
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (least + most) / 2
    if (isTooLow(middle)) least = middle
    else most = middle
  }
  return (least + most) / 2
}
