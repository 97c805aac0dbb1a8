/**
 * Sends all requests to the service in three independent lanes: auctions and smart links, reports,
 * pixels. Each request times out after 8 seconds, and a lane backs off after failures.
 *
 * Ad blockers block reports, and auctions must not wait for them
 * (docs/spec/links-and-tags.md#lanes-of-requests). A page has hundreds of links and its reader
 * loads other things too: the tag uses at most four connections, and stops after repeated failures.
 */

import { insertImage } from './hidden-image.ts'

export interface Job {
  _url: string
  /** Body of a POST. A job without a body and a response handler is sent as an image. */
  _body?: string
  /** Gets the parsed JSON response; throws when it is invalid. */
  _done?: (answer: unknown) => void
  /** How often it may be resent: only requests that count once however often they arrive. */
  _again?: number | undefined
}

export interface RequestQueue {
  _add(job: Job): void
  /** Passes waiting events to the browser for delivery, and drops everything else. */
  _flush(): void
}

/** Two connections suffice to stay busy and leave the others to the page. */
const QUESTIONS_AT_ONCE = 2
const TIMEOUT_MS = 8000
/** Retries of one request. */
export const REPEATS = 3
const FIRST_PAUSE_MS = 1000
/** Statuses from here on are temporary (429) or failures (5xx); lower ones are final. */
const REFUSED = 429
/** After this many failures in a row a lane stays closed until the next page. */
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
 * Bodies are text/plain, fetch's default, which needs no preflight, and without cookies. Reports
 * outlive the page; requests with a response handler end with it.
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

  /** Resolves to the milliseconds that the slot stays occupied afterwards: the back-off. */
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
