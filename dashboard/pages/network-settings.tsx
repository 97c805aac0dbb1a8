/** The configuration of the node that answers: environment variables, without secrets. */
import { useQuery } from '@tanstack/react-query'
import { network } from '../network-api.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { CommandLine, useCurl } from '../ui/command-line.tsx'
import { Progress } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'

type Setting = Awaited<ReturnType<typeof network.settings>>[number]

export function NetworkSettingsPage() {
  const settings = useQuery({ queryKey: ['network', 'settings'], queryFn: network.settings })
  const curl = useCurl()
  return (
    <div className="space-y-4">
      <PageHead
        title="Configuration"
        purpose="Environment variables of the node that answers. To change one, set it and restart the node."
      />
      {settings.data === undefined && settings.failureReason === null && <TableSkeleton />}
      {settings.failureReason !== null && <Progress query={settings} />}
      {settings.data !== undefined && (
        <DataTable
          id="network-settings"
          label="Configuration"
          isBare
          rows={settings.data}
          keyOf={({ name }) => name}
          columns={COLUMNS}
          note="Secrets show only whether they are set."
        />
      )}
      <CommandLine
        commands={[
          { does: 'Read the configuration', line: curl('GET', '/api/v1/network/settings/') },
          { does: 'Check that it works', line: 'souk doctor' },
        ]}
      />
    </div>
  )
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    ...{ id: 'name', head: 'Name', value: ({ name }) => name },
    cell: ({ name }) => <code className="font-mono text-[0.8125rem]">{name}</code>,
  },
  {
    ...{ id: 'value', head: 'Value' },
    value: ({ value, is_secret }) => (is_secret && value !== null ? 'set (secret)' : value),
  },
]
