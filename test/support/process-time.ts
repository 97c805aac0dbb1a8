/**
 * Time as this process experiences it: none passes while other programs suspend it. For tests of
 * things that must happen soon.
 */
const TICK_MS = 5

let ticks = 0
setInterval(() => {
  ticks += 1
}, TICK_MS).unref()

export const ownMs = (): number => ticks * TICK_MS
