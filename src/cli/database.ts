/** Commands on the database itself. */
import { MIGRATIONS_FOLDER } from '../node/open-storage.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import type { CommandContext } from './command.ts'

export async function migrateCommand(context: CommandContext) {
  const { connection } = await context.storage()
  return migrate(connection, MIGRATIONS_FOLDER, (line) => context.progress(line))
}
