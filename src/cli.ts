/** `souk <command>`: what a person or a script who runs Souk types. */
import { COMMANDS } from './cli/commands.ts'
import { openContext } from './cli/context.ts'
import { runProgram } from './cli/program.ts'

// Told where it is written; neither a server nor what is still to be closed ends for it.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

const exitCode = await runProgram(COMMANDS, {
  args: process.argv.slice(2),
  io: {
    stdout: (text) => process.stdout.write(text, tellUnwritten),
    stderr: (text) => process.stderr.write(text),
    columns: process.stdout.columns,
    openContext,
  },
})
process.exitCode ||= exitCode

function tellUnwritten(error?: NodeJS.ErrnoException | null): void {
  // Whoever reads along has seen enough (`souk link list | head`): nothing went wrong.
  if (error == null || error.code === 'EPIPE') return
  process.stderr.write(`The result could not be written: ${error.message}\n`)
  process.exitCode = 1
}
