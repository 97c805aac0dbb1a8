/** The settings of the node that answers. */
import Type from 'typebox'
import { sliceOf } from '../accounts/id-pages.ts'
import { list, type Operation } from '../accounts/operation.ts'
import type { Config } from '../node/config.ts'
import { TextOrNull } from '../platform/http/field-types.ts'
import { networkSettings } from './network-settings.ts'

const listSettings = (config: Config) =>
  list({
    id: 'listSettings',
    tag: 'network',
    path: '/api/v1/network/settings/',
    summary: 'List the configuration of the node that answers, without secrets',
    description:
      'They are environment variables, so none changes while a node runs. A secret shows `set`, or ' +
      'null. TRUSTED_PROXIES and IP_BLOCKLIST show the number of their entries.',
    permission: 'network.read',
    entry: Type.Object({ name: Type.String(), value: TextOrNull, is_secret: Type.Boolean() }),
    run: async ({ query }) => sliceOf(networkSettings(config), query),
  })

export const settingsOperations = (config: Config): Operation[] => [listSettings(config)]
