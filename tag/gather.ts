/** Runs once, so long after the first of many calls: all that come meanwhile are answered by it. */
export const gather = (run: () => void, ms: number): (() => void) => {
  let calls = 0
  return () => {
    if (calls++) return
    setTimeout(() => {
      calls = 0
      run()
    }, ms)
  }
}
