/** Whether a password is among those that attackers try first. */

/**
 * The list has the 49,233 most frequent passwords of published leaks. It is loaded when a password
 * is first set: reading it takes 30 ms that no other command needs.
 */
let list: Promise<ReadonlySet<string>> | undefined

async function loadList(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'] as readonly string[])
}

/**
 * Case and white space around a password make it no harder to guess. A run such as `1111111111` or
 * `abcdefghij` counts as common: leaks hold such runs of every length, the list only some.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  list ??= loadList()
  const bare = password.normalize('NFKC').trim().toLowerCase()
  return isRun(bare) || (await list).has(bare)
}

/** Whether each character is as far from the one before it: the same, the next, or the previous. */
function isRun(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)))
  const [step = 0] = steps
  return steps.size <= 1 && Math.abs(step) <= 1
}
