/** `souk doctor`. */
import { checkHealth } from '../operator/health-checks.ts'
import type { CommandContext } from './command.ts'

export const doctorCommand = (context: CommandContext) => checkHealth(context)
