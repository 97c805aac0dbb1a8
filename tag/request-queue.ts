/**
 * All requests to the service, in three lanes that never wait for each other: questions, whose
 * answers earn; reports; and pixels. Each request ends after 8 seconds, and a lane slows down after
 * failures.
 *
 * Ad blockers block reports: auctions must not wait for them
 * (docs/spec/links-and-tags.md#lanes-of-requests). A page has hundreds of links and its reader has
 * other things to load: the tag never holds more than four connections, and a service in trouble
 * is asked less, then not at all.
 */

import { insertImage } from './hidden-image.ts'

export interface Job {
  _url: string
  /** Text of a POST. A job with neither a body nor a use for the answer is fired as an image. */
  _body?: string
  /** Gets the parsed JSON answer; throwing means that the answer was not one. */
  _done?: (answer: unknown) => void
  /** How often it may be sent again: only what counts once however often it arrives. */
  _again?: number | undefined
}

export interface RequestQueue {
  _add(job: Job): void
  /** Hands waiting events to the browser to deliver, and forgets everything else. */
  _flush(): void
}

/** Two connections are enough to stay busy and leave the others to the page. */
const QUESTIONS_AT_ONCE = 2
const TIMEOUT_MS = 8000
/** How often anything is sent again. */
export const REPEATS = 3
const FIRST_PAUSE_MS = 1000
/** Statuses from here on say "not now" (429) or "broken" (5xx); below them lie answers. */
const REFUSED = 429
/** After so many failures in a row a lane stays closed until the reader's next page. */
const FAILURES_MAX = 4

export const makeQueue = (): RequestQueue => {
  const questions = openLane(QUESTIONS_AT_ONCE)
  const reports = openLane(1)
  const pixels = openLane(1)
  return {
    _add(job) {
      const lane = job._done ? questions : job._body ? reports : pixels
      lane._add(job)
    },
    _flush() {
      for (const lane of [questions, reports, pixels]) lane._flush()
    },
  }
}

/**
 * Bodies go as text/plain, fetch's default, which needs no preflight, and without cookies. What is
 * only told outlives the page; an answer would be for nobody.
 */
const openLane = (atOnce: number): RequestQueue => {
  let jobs: Job[] = []
  let inFlight = 0
  let failures = 0

  const next = (): void => {
    while (inFlight < atOnce && failures < FAILURES_MAX && jobs[0]) {
      inFlight++
      run(jobs.shift() as Job).then((pauseMs) => {
        setTimeout(() => {
          inFlight--
          next()
        }, pauseMs)
      })
    }
  }

  /** Resolves to the milliseconds that its slot stays taken afterwards: that is the back-off. */
  const run = async (job: Job): Promise<number> => {
    try {
      if (!job._done && !job._body) {
        await new Promise((done) => {
          const image = insertImage(job._url)
          image.onload = image.onerror = done
          setTimeout(done, TIMEOUT_MS)
        })
      } else {
        const response = await fetch(job._url, {
          method: job._body && 'POST',
          body: job._body,
          credentials: 'omit',
          keepalive: !job._done,
          signal: AbortSignal.timeout(TIMEOUT_MS),
        } as RequestInit)
        if (response.status >= REFUSED) throw response
        if (job._done && response.ok) job._done(await response.json())
      }
      failures = 0
      return 0
    } catch {
      if ((job._again as number)-- > 0) jobs.unshift(job)
      return FIRST_PAUSE_MS << failures++
    }
  }

  return {
    _add(job) {
      jobs.push(job)
      next()
    },
    _flush() {
      for (const job of jobs) {
        if (job._body && !job._done) navigator.sendBeacon?.(job._url, job._body)
      }
      failures = 0
      jobs = []
    },
  }
}
