/** What cannot be done as things stand: the message says why and what to do. */
export class Refusal extends Error {
  override name = 'Refusal'
}
