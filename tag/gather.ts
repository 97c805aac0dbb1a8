/** Runs a task once, a fixed time after the first of many calls. */
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
