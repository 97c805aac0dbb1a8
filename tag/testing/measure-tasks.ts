/**
 * How long the longest task of the page tag is on a page with 500 links.
 *
 *   node tag/testing/measure-tasks.ts
 *
 * Goal: no longer than two plain scans of all links, in the same page on the same machine, because
 * milliseconds depend on the machine. Garbage collection or a cold cache only lengthens a task, so
 * the best run counts.
 */
import { openPage } from './browser.ts'
import { publishLinks, type TracedTag, traceTag } from './longest-task.ts'
import { startNetwork } from './network.ts'

const LINKS = 500
const RUNS = 6
const LOOKS_GOAL = 2
/** A phone of the slower half, as browsers' own tools emulate it. */
const CPU_SLOWDOWN = 6

const works: (() => Promise<void>)[] = []
const scope = { after: (work: () => Promise<void>) => void works.push(work) }
const network = await startNetwork(scope, { goods: LINKS })
const page = publishLinks(network, LINKS)
const runs: TracedTag[] = []
for (let run = 0; run < RUNS; run++) {
  const traced = await openPage(scope)
  runs.push(await traceTag(traced, { page, service: network.service, links: LINKS }))
}
const longestMs = Math.min(...runs.map((run) => run.longestMs))
const lookMs = Math.min(...runs.map((run) => run.lookMs))
const looks = longestMs / lookMs
console.log(
  `longest of ${runs[0]?.tasks} tasks: ${looks.toFixed(1)} looks at ${LINKS} links (goal ` +
    `${LOOKS_GOAL}); on a phone ${CPU_SLOWDOWN} times slower ${(longestMs * CPU_SLOWDOWN).toFixed(1)} ms`,
)
if (looks > LOOKS_GOAL) process.exitCode = 1
for (const work of works.toReversed()) await work()
