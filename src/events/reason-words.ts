/** The sentences that explain to a publisher why a click was not paid. */
import { REASON, reasonName } from './reason.ts'

const WORDS: Readonly<Record<keyof typeof REASON, string>> = {
  ok: 'Valid click.',
  sealBroken: 'The URL was altered or cut off, so the reader went to the original page.',
  robot: 'Bot: a robot, a program such as an HTTP library, or no user agent.',
  prefetch: 'A prefetch or a link preview, without a click.',
  tooFast: 'Less than 0.3 seconds after the page loaded, which is too fast for a person.',
  unfunded: "The merchant's budget could not cover the price at that moment.",
  blockedAddress: "The reader's address is on the operator's blocklist.",
  rateLimited: 'More clicks per second from one address than people make.',
  unknownLink: 'This smart link does not exist.',
  foreignLink: "The smart link is another publisher's.",
  disabledLink: 'The smart link has been disabled.',
  spooledLate: 'The click was recorded after its budget had been closed.',
  embedded: 'The link was loaded inside a page, in a frame or as an image.',
  suspended: 'The operator of the network has suspended the publisher or the merchant.',
  duplicateResult: 'Repeat click on the same page view.',
  duplicateVisitor: 'Repeat click: the same reader clicked this link within the last 30 minutes.',
  visitorLimit: 'The same reader made 5 valid clicks for this campaign within the hour.',
  scanner: 'More than 3 clicks within 10 seconds from one address and browser without our cookie.',
  addressLimit: "Over the campaign's limit of paid clicks from one address per hour or day.",
  reversed: 'Found invalid later, so its earnings were reversed.',
}

const BY_CODE = new Map<number, string>(
  Object.entries(REASON).map(([name, code]) => [code, WORDS[name as keyof typeof REASON]]),
)

/** Every reason by its word, with its sentence, for the API reference. */
export const REASONS_DESCRIPTION = [...BY_CODE]
  .filter(([code]) => code !== REASON.ok)
  .map(([code, sentence]) => `${reasonName(code)}: ${sentence.replace(/\.$/, '')}`)
  .join('; ')

/** The sentence of a stored reason; the word itself if this version does not know it. */
export function explainReason(code: number): string {
  return BY_CODE.get(code) ?? reasonName(code)
}
