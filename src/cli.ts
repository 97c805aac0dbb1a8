/** `souk <command>`: what a person or a script who runs Souk types. */
import { COMMANDS } from './cli/commands.ts'
import { openContext } from './cli/context.ts'
import { runProgram } from './cli/program.ts'

process.exitCode = await runProgram(COMMANDS, {
  args: process.argv.slice(2),
  io: {
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(text),
    openContext,
  },
})
