/**
 * `npm run update-llama -- REF|DIR`: tries another llama.cpp as the pinned one, and reports what
 * passes, what fails, and what to write into the pin.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../build/paths.js'
import { runCommand, UsageError } from '../command.js'
import { type Result, reportOf } from './report.js'
import { headers, kernels, nativeBuild, pace, parity, slots, suite, type Step } from './steps.js'
import { makeWorkshop, workshopDir } from './workshop.js'

const usage = `Usage: npm run update-llama -- REF|DIR [options]

  REF               node-llama-cpp@VERSION, of npm, or a branch or tag of llama.cpp's repository
  DIR               a checkout of llama.cpp, perhaps with changes: it is copied
  --accept-headers  builds our CPU kernels although ggml's private headers have changed
  --quick           only kernels and parity: no other native tests, no benchmark

Everything happens in build/update-llama. The report is build/update-llama/report.md.
Exit codes: 0 all passes, 1 something fails, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'accept-headers': { type: 'boolean' }, quick: { type: 'boolean' } },
  })
  const [source, ...rest] = positionals
  if (source === undefined || rest.length > 0) throw new UsageError('Give one REF or DIR.')
  const tree = await makeWorkshop(source, values['accept-headers'] === true)
  const steps: readonly Step[] = [
    ...[headers, slots, nativeBuild, kernels, parity],
    ...(values.quick ? [] : [suite, pace]),
  ]
  const results: Result[] = []
  for (const step of steps) {
    console.log(`\n== ${step.name}`)
    const needed = results.find(
      ({ name, verdict }) => step.needs?.includes(name) && verdict !== 'passes',
    )
    const result: Result = needed
      ? { name: step.name, verdict: 'not run', lines: [`${needed.name}: ${needed.verdict}`] }
      : { name: step.name, ...(await step.run(tree)) }
    results.push(result)
    console.log(`${result.verdict}: ${step.name}`)
  }
  const report = reportOf(tree, results)
  const path = join(workshopDir, 'report.md')
  writeFileSync(path, report)
  console.log(`\n${report}\n(${relative(root, path)})`)
  return results.every(({ verdict }) => verdict === 'passes') ? 0 : 1
}
