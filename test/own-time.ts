/**
 * Time as this process had it, for what must be done soon: where other programs keep it from its
 * turns, none passes. What waits in here, for a timer or for nobody, waits as long as ever.
 */
const TICK_MS = 5

let ticks = 0
setInterval(() => {
  ticks += 1
}, TICK_MS).unref()

export const ownMs = (): number => ticks * TICK_MS
