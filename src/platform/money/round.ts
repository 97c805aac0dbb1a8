/** Exact division of whole numbers. Ties go to the even neighbour, so that errors cancel out. */

/** `numerator / denominator`, half to even; the denominator is above 0. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n) throw new RangeError('the denominator must be above 0')
  const magnitude = numerator < 0n ? -numerator : numerator
  const twiceRest = (magnitude % denominator) * 2n
  let quotient = magnitude / denominator
  if (twiceRest > denominator || (twiceRest === denominator && quotient % 2n === 1n)) quotient += 1n
  return numerator < 0n ? -quotient : quotient
}
