/** The sentences of the reasons why a click was not paid, for the publisher who asks. */
import { REASON, reasonName } from './reason.ts'

const WORDS: Readonly<Record<keyof typeof REASON, string>> = {
  ok: 'A valid click.',
  sealBroken: 'The address was made up, altered or cut off; the reader went to the stored one.',
  robot: 'A robot, a program such as an HTTP library, or no user agent at all.',
  prefetch: 'A prefetch or a link preview; nobody had clicked.',
  tooFast: 'Less than 0.3 seconds after the page loaded: no person is that fast.',
  unfunded: "The merchant's budget could not cover the price at that moment.",
  blockedAddress: "The reader's address is on the operator's blocklist.",
  rateLimited: 'More clicks a second from one address than people make.',
  unknownLink: 'No such smart link exists.',
  foreignLink: "The smart link is another publisher's.",
  disabledLink: 'The smart link has been disabled.',
  spooledLate: 'The click reached the books after its budget had been closed.',
  embedded: 'The link was loaded inside a page, in a frame or as an image, not opened by itself.',
  duplicateResult: 'The same auction result had been clicked and counted before.',
  duplicateVisitor: 'Repeat click: the same reader clicked this link within the last 30 minutes.',
  visitorLimit: 'The same reader made 5 valid clicks for this campaign within the hour.',
  scanner: 'More than 3 clicks within 10 seconds from one address and browser without our cookie.',
  addressLimit: "Over the campaign's limit of paid clicks from one address per hour or day.",
  reversed: 'Found invalid later: what it earned was taken back.',
}

const BY_CODE = new Map<number, string>(
  Object.entries(REASON).map(([name, code]) => [code, WORDS[name as keyof typeof REASON]]),
)

/** Every reason by its word, and the sentence of it, for the reference. */
export const REASONS_TOLD = [...BY_CODE]
  .filter(([code]) => code !== REASON.ok)
  .map(([code, sentence]) => `${reasonName(code)}: ${sentence.replace(/\.$/, '')}`)
  .join('; ')

/** The sentence of a stored reason; of one that this version does not know, its word. */
export function explainReason(code: number): string {
  return BY_CODE.get(code) ?? reasonName(code)
}
