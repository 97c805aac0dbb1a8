/** The commands on members of organizations, with their options. */
import { ROLES } from '../accounts/permission.ts'
import { type CommandSpec, commandsOf } from './command.ts'
import { type OptionSpec, readWord } from './option.ts'
import { ORGANIZATION_NAMES, ORGANIZATION_OPTIONS } from './organization.ts'

const members = commandsOf(() => import('./members.ts'))

const USER: OptionSpec = { flags: '--user <E>', help: 'e-mail address', isRequired: true }
const ROLE: OptionSpec = {
  flags: '--role <R>',
  help: 'owner, manager or viewer; of the network admin or staff',
  read: readWord(...ROLES),
  isRequired: true,
}

export const MEMBER_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'member add',
    help: 'Gives a user a role in a publisher, a merchant or the network.',
    options: [USER, ROLE, ...ORGANIZATION_OPTIONS],
    oneOf: ORGANIZATION_NAMES,
    run: members('addMemberCommand'),
  },
  {
    name: 'member remove',
    help: 'Ends a membership; API keys of the user for the organization stop working.',
    options: [USER, ...ORGANIZATION_OPTIONS],
    oneOf: ORGANIZATION_NAMES,
    run: members('removeMemberCommand'),
  },
  {
    name: 'member list',
    help: 'Lists who belongs to an organization.',
    options: ORGANIZATION_OPTIONS,
    oneOf: ORGANIZATION_NAMES,
    run: members('listMembersCommand'),
  },
  {
    name: 'invite',
    help: 'Invites somebody by e-mail address, and shows the link to pass on, only now.',
    options: [
      { flags: '--email <E>', help: 'e-mail address', isRequired: true },
      ROLE,
      ...ORGANIZATION_OPTIONS,
    ],
    oneOf: ORGANIZATION_NAMES,
    run: members('inviteCommand'),
  },
]
