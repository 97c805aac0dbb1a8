/** An operation that the current state does not allow; the message gives the reason and the fix. */
export class Refusal extends Error {
  override name = 'Refusal'
}
