/** `souk <command>`: what a person or a script who runs Souk types. */
import { COMMANDS } from './cli/commands.ts'
import { openContext } from './cli/context.ts'
import { runProgram } from './cli/program.ts'

// Whoever reads along has seen enough (`souk link list | head`): nothing went wrong.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await runProgram(COMMANDS, {
  args: process.argv.slice(2),
  io: {
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    columns: process.stdout.columns,
    openContext,
  },
})
