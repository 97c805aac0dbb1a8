/** `souk <command>`: the command line for operators and their scripts. */
import { COMMANDS } from './commands.ts'
import { openContext } from './context.ts'
import { runProgram } from './program.ts'

// Handled where output is written. A broken pipe must not end a server or skip its shutdown.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

const exitCode = await runProgram(COMMANDS, {
  args: process.argv.slice(2),
  io: {
    stdout: (text) => process.stdout.write(text, reportUnwritten),
    stderr: (text) => process.stderr.write(text),
    columns: process.stdout.columns,
    openContext,
  },
})
process.exitCode ||= exitCode

function reportUnwritten(error?: NodeJS.ErrnoException | null): void {
  // The reader of the output has closed the pipe (`souk link list | head`), which is not an error.
  if (error == null || error.code === 'EPIPE') return
  process.stderr.write(`The result could not be written: ${error.message}\n`)
  process.exitCode = 1
}
