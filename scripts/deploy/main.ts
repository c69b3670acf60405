/**
 * `npm run deploy:check`: runs the files that operators copy from this folder, as far as one
 * machine can.
 *
 * @module
 */

import { parseArgs } from 'node:util'
import { probe } from '../build/run.js'
import { runCommand, UsageError } from '../command.js'
import { checkImage } from './image.js'
import { checkManifests } from './manifests.js'
import { Report } from './report.js'
import { checkUnit } from './unit.js'

const usage = `Usage: npm run deploy:check -- [CHECK …]

  image       builds the Dockerfile and runs the image with podman
  unit        runs the unit under systemd in a container (systemd-nspawn)
  manifests   validates the YAML files against the schemas of Kubernetes and Compose

Without CHECK, all of them. Needs root, and Debian's packages podman, runc, mmdebstrap and
systemd-container.

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

const checks: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  manifests: checkManifests,
  image: checkImage,
  unit: checkUnit,
}

await runCommand(usage, async () => {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} })
  for (const name of positionals) {
    if (!(name in checks)) throw new UsageError(`expected ${Object.keys(checks).join(', ')}`)
  }
  const missing = ['podman', 'runc', 'mmdebstrap', 'systemd-nspawn'].filter(
    (name) => probe(name) === undefined,
  )
  if (missing.length > 0) throw new UsageError(`Missing: ${missing.join(', ')}`)
  const report = new Report()
  for (const [name, check] of Object.entries(checks)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    console.log(`\n${name}`)
    await check(report)
  }
  return report.failed > 0 ? 1 : 0
})
