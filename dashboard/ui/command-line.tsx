/** The commands that do the same as the page, for the operator's shell. */
import { useMe } from '../session.ts'
import { CopyButton } from './copy-button.tsx'

export interface Command {
  readonly does: string
  readonly line: string
}

export function CommandLine({ commands }: { commands: readonly Command[] }) {
  return (
    <details className="panel px-4 py-3 text-sm print:hidden">
      <summary className="cursor-pointer font-medium">On the command line</summary>
      <ul className="mt-3 space-y-3">
        {commands.map(({ does, line }) => (
          <li key={line} className="space-y-1">
            <p className="text-soft">{does}</p>
            <div className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 grow rounded-lg bg-sunk px-3 py-1.5 font-mono text-[0.8125rem] break-all">
                {line}
              </code>
              <CopyButton text={line} label="Copy" of={does} />
            </div>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** A call of the API, for actions without a command. */
export function useCurl(): (method: 'GET' | 'POST', path: string) => string {
  const { data: me } = useMe()
  const scheme = `${(me?.brand ?? 'souk').toUpperCase()}-API-KEY`
  return (method, path) =>
    `curl ${method === 'GET' ? '' : '-X POST '}-H 'Authorization: ${scheme} <your key>' ${me?.base_url ?? ''}${path}`
}
