/**
 * The frame of all commands: parsing, help, and errors.
 *
 * @module
 */

import { Command, CommanderError } from 'commander'
import { unknownVariables } from '../config.js'
import { OiError } from '../errors.js'
import { packageVersion } from '../package-root.js'
import { addAccountsCommand } from './accounts/accounts-command.js'
import { addAdminCommand } from './admin/admin-command.js'
import { addAskCommand } from './ask/ask-command.js'
import { addBuildCommand } from './build-command.js'
import { addCalibrateCommand } from './calibrate/calibrate-command.js'
import type { Dependencies } from '../server/dependencies.js'
import { exitCodes } from './exit-codes.js'
import { addEvalCommand } from './evaluate/eval-command.js'
import { addKeysCommand } from './accounts/keys-command.js'
import { addModelsCommand } from './models/models-command.js'
import { addOpenApiCommand } from './openapi-command.js'
import { addRpcServerCommand } from './rpc-server-command.js'
import { addServeCommand } from './serve-command.js'
import { addSettingsCommand } from './settings-command.js'
import { print, printed, printError } from '../terminal/print.js'
import { addWorkspacesCommand } from './accounts/workspaces-command.js'

const footer = `
Every setting can be given as an environment variable too; a flag wins over it.

Exit codes: 0 success, 1 the command failed, 2 wrong usage or a wrong setting.`

/**
 * Runs one command, and waits until its output is written.
 *
 * @param argv - As `process.argv`.
 * @returns The exit code. Never rejects.
 */
export async function run(argv: readonly string[], dependencies: Dependencies): Promise<number> {
  const code = await runCommand(argv, dependencies)
  const whole = await printed()
  return code === exitCodes.ok && !whole ? exitCodes.failure : code
}

async function runCommand(argv: readonly string[], given: Dependencies): Promise<number> {
  const program = new Command('oi')
    .description('Answers typed questions about a state, with probabilities, by a local model.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: printError })
    .showHelpAfterError('(--help shows the usage)')
    .addHelpText('after', footer)
    .hook('preAction', (_, command) => {
      // oi serve refuses them.
      if (command.name() === 'serve') return
      for (const text of unknownVariables(dependencies.environment)) printError(`oi: ${text}\n`)
    })
  let code: number = exitCodes.ok
  const dependencies = { ...given, done: (result: number) => (code = result) }
  addServeCommand(program, dependencies)
  addAskCommand(program, dependencies)
  addEvalCommand(program, dependencies)
  addCalibrateCommand(program, dependencies)
  addModelsCommand(program, dependencies)
  addKeysCommand(program, dependencies)
  addWorkspacesCommand(program, dependencies)
  addAccountsCommand(program, dependencies)
  addAdminCommand(program, dependencies)
  addSettingsCommand(program, dependencies)
  addOpenApiCommand(program)
  addBuildCommand(program, dependencies)
  addRpcServerCommand(program, dependencies)
  try {
    await program.parseAsync(argv)
    return code
  } catch (error) {
    // Commander has written its message, and uses code 0 for --help and --version.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    }
    printError(`oi: ${describe(error)}\n`)
    const usage = error instanceof OiError && error.code === 'ERR_CONFIG'
    return usage ? exitCodes.usage : exitCodes.failure
  }
}

/** The message of an intended or a system error; the stack of any other error. */
function describe(error: unknown): string {
  if (error instanceof OiError) return error.message
  if (error instanceof Error && 'syscall' in error) return error.message
  if ((error as NodeJS.ErrnoException | null)?.code === 'EMFILE') {
    return `${(error as Error).message} (ulimit -n shows how many files may be open)`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
