/**
 * `oi serve`.
 *
 * @module
 */

import type { Command } from 'commander'
import { readConfig, unknownVariables } from '../config.js'
import { OiError } from '../errors.js'
import { type CommandDependencies, exitCodes } from './exit-codes.js'
import { runServer } from '../server/run-server.js'
import { ServerLog } from '../server/server-log.js'
import { addAllSettings } from './input/setting-options.js'

export function addServeCommand(program: Command, dependencies: CommandDependencies): void {
  const serve = program
    .command('serve')
    .description('serve models over HTTP')
    .addHelpText(
      'after',
      '\nA first start on an empty data folder makes a workspace and a key, and shows the key once.' +
        '\nSIGTERM: /readyz says 503 for --drain-ms while everything else is answered, then running' +
        '\nrequests get --grace-ms to finish. SIGINT (Ctrl-C): the same without --drain-ms. A second' +
        '\nsignal stops at once. SIGHUP reads settings, certificates, readouts and calibrations again,' +
        '\nand loads or unloads models by the settings; if the terminal is gone, it acts as SIGTERM.' +
        '\nExit codes: 0 stopped as asked, 130 or 143 at once by a second SIGINT or SIGTERM.',
    )
  addAllSettings(serve).action(async (flags: Record<string, string | boolean>) => {
    const { environment } = dependencies
    // A server must not run for months without a setting that was misspelt.
    const [unknown] = unknownVariables(environment)
    if (unknown !== undefined) throw new OiError('ERR_CONFIG', unknown)
    const read = () => readConfig(environment, flags)
    const config = read()
    const log = new ServerLog(config)
    try {
      await runServer(read, config, dependencies, log)
      dependencies.done(exitCodes.ok)
    } finally {
      await log.close()
    }
  })
}
