/** A record that the operator opens in a window: loading, and links to the pages of its people. */
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { START } from '../navigation.ts'
import { PATHS } from '../paths.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Progress } from '../ui/notice.tsx'

export function LoadingDialog(props: {
  title: string
  query: Parameters<typeof Progress>[0]['query']
  onClose: () => void
}) {
  return (
    <Dialog title={props.title} isOpen onOpenChange={(isOpen) => isOpen || props.onClose()}>
      <Progress query={props.query} />
    </Dialog>
  )
}

/** Opens an organization as its own people see it. */
export function OpenOrganization({ kind, id }: { kind: 'publisher' | 'merchant'; id: number }) {
  const org = `${kind}-${id}`
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
      <Link to={START[kind]} search={{ org }} className="link">
        Open its pages
      </Link>
      <Link to={PATHS.members} search={{ org }} className="link">
        Members
      </Link>
      <Link to={PATHS.audit} search={{ org }} className="link">
        Changes
      </Link>
    </p>
  )
}

export function ReadOnlyRecord(props: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <Dialog title={props.title} isOpen onOpenChange={(isOpen) => isOpen || props.onClose()}>
      <div className="space-y-3">{props.children}</div>
    </Dialog>
  )
}

/** Loads everything of the network again after a change. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: ['network'] })
}

/** A comma-separated list as its parts. */
export const toParts = (text: string): string[] =>
  text
    .split(/[,\s]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** A percentage as a fraction, exact to a millionth. NaN for a text that is not a number. */
export const toFraction = (percent: string): number => Math.round(Number(percent) * 10_000) / 1e6

export const toPercent = (fraction: number): string => String(Math.round(fraction * 1e6) / 10_000)
