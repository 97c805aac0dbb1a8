/** The calls of the documentation to the service, with the session of the dashboard. */

export interface Membership {
  readonly organization: { readonly kind: string; readonly id: number | null }
  readonly name: string
  readonly permissions: readonly string[]
}

export interface Me {
  readonly memberships: readonly Membership[]
  readonly csrf_token: string | null
}

/** The reader; null if nobody is signed in or the service does not answer. */
export async function readMe(): Promise<Me | null> {
  try {
    const [me] = await callApi<Me>('/api/v1/me/')
    return me ?? null
  } catch {
    return null // The page then shows its placeholders.
  }
}

/** The `data` of an answer; throws the message of a refusal. */
export async function callApi<Entry>(path: string, options?: RequestInit): Promise<Entry[]> {
  const response = await fetch(path, options)
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer.data
}
