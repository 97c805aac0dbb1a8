/**
 * The import of another network's report. Only a command calls it.
 *
 * An import is one entry of the audit log, in the transaction of its events.
 */
import Type from 'typebox'
import { action } from '../accounts/operation.ts'
import type { AppendWhole } from '../events/append-money.ts'
import type { IntakeDeps } from '../orders/intake.ts'
import { importNetwork, type NetworkImport } from './import-network.ts'
import type { NetworkMap } from './network-map.ts'

interface ImportDeps {
  readonly open: () => IntakeDeps & { readonly appendWhole: AppendWhole }
  /** Reads the report. */
  readonly map: NetworkMap
}

export const importNetworkBy = ({ open, map }: ImportDeps) =>
  action({
    id: 'importNetworkReport',
    tag: 'network',
    method: 'POST',
    path: '/api/v1/network/reports/imports/',
    summary: 'Import another network’s report',
    permission: 'network.write',
    isLong: true,
    body: Type.Object({
      network: Type.String(),
      file_name: Type.String({ description: 'For the audit log' }),
      text: Type.String({ description: 'The report' }),
      replaces_days: Type.Boolean({ description: 'The report has all lines of its days' }),
    }),
    entry: Type.Unsafe<NetworkImport>(Type.Object({})),
    run: async ({ body, audit }) => {
      const { network, text, file_name, replaces_days: replacesDays } = body
      const writer = open()
      const file = { network, map, text, replacesDays }
      const imported = await importNetwork(writer, file, (events, counts) => {
        const { rejects: _, reasons: __, read_as: ___, ...after } = counts
        const change = { action: 'network_report.import', target: `network_report:${network}` }
        return writer.appendWhole(events, (tx) =>
          audit({ ...change, after: { file_name, replaces_days: replacesDays, ...after } }, tx),
        )
      })
      return [imported]
    },
  })
