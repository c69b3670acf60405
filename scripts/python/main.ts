/**
 * Prints what programs of others from PyPI make of a server of this tree: a table, and what failed.
 *
 * @module
 */

import { BuildError } from '../build/run.js'
import { runCommand } from '../command.js'
import { markdownTable } from '../markdown.js'
import { pythonEnvironment } from './environment.js'
import { programRows, runPrograms } from './programs.js'

const usage = `Usage: npm run python

Installs programs from PyPI in build/python and runs them against servers of this tree.
The exit code is 1 if one fails that should pass, or passes that should fail.`

await runCommand(usage, async () => {
  const environment = await pythonEnvironment()
  if ('missing' in environment) throw new BuildError(environment.missing)
  const checks = await runPrograms(environment.python)
  console.log(markdownTable(['Program', 'Version', 'Passed', 'Failed'], programRows(checks)))
  for (const { program, check, why, known } of checks) {
    if (why !== null) console.log(`\n${program}, ${check}: ${known ?? `FAILS: ${why}`}`)
    else if (known !== undefined) console.log(`\n${program}, ${check}: passes, but is listed`)
  }
  return checks.every(({ why, known }) => (why === null) === (known === undefined)) ? 0 : 1
})
