/**
 * Checks the YAML files against the schemas of Kubernetes and Compose (pickers.ts: of its pickers).
 * The schemas come from npm, in fixed versions; nothing else needs them, so the project does not depend on them.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { root } from '../build/paths.js'
import { probe, run } from '../build/run.js'
import { checkPickers } from './pickers.js'
import type { Report } from './report.js'

const schemas = ['kubernetes-models@5.1.0', 'dclint@3.1.0', 'ajv@8.17.1']
const folder = join(root, 'build', 'deploy', 'schemas')
const modules = join(folder, 'node_modules')
const source = join(root, 'scripts', 'deploy')

type Model = new (value: object) => { validate(): void }

interface Message {
  readonly rule: string
  readonly message: string
}

/** The path in the package of each kind's class. */
const models: Readonly<Record<string, string>> = {
  Namespace: 'v1/Namespace',
  Service: 'v1/Service',
  StatefulSet: 'apps/v1/StatefulSet',
}

export async function checkManifests(report: Report): Promise<void> {
  if (!existsSync(modules)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const quiet = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund']
    await run('npm', ['install', ...quiet, ...schemas], { cwd: folder })
  }
  await checkKubernetes(report)
  await checkCompose(report)
  await checkPickers(report, modules)
}

async function checkKubernetes(report: Report): Promise<void> {
  if (probe('kubectl', ['version', '--client']) === undefined) {
    return report.skip('kubernetes/', 'there is no kubectl, whose kustomize puts it together')
  }
  const made = spawnSync('kubectl', ['kustomize', join(source, 'kubernetes')], { encoding: 'utf8' })
  report.check('the kustomization is put together', made.status === 0, made.stderr)
  for (const document of parseAllDocuments(made.stdout)) {
    const value = document.toJS() as { readonly kind: string }
    const file = join(modules, 'kubernetes-models', `${models[value.kind]}.js`)
    const { [value.kind]: Model } = (await import(file)) as Record<string, Model>
    let fault = ''
    try {
      new Model!(value).validate()
    } catch (error) {
      fault = (error as Error).message
    }
    report.check(`${value.kind} is as Kubernetes' schema has it`, fault === '', fault)
  }
}

async function checkCompose(report: Report): Promise<void> {
  const file = join(source, 'compose.yaml')
  const lint = join(modules, '.bin', 'dclint')
  const { stdout, stderr } = spawnSync(lint, ['--formatter', 'json', file], { encoding: 'utf8' })
  const [found] = JSON.parse(stdout || '[]') as { readonly messages: readonly Message[] }[]
  // Its other rules are about style.
  const wrong = found?.messages.filter(({ rule }) => rule.startsWith('invalid-'))
  report.check(
    "compose.yaml is as Compose's schema has it",
    wrong?.length === 0,
    wrong === undefined ? stderr : wrong.map(({ message }) => message).join('\n'),
  )
}
