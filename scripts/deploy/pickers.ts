/**
 * Checks the files for Kubernetes' pickers against what their makers publish: the schemas of their
 * custom resources, and the types that read the picker's configuration. They come as Go modules, in
 * fixed versions; nothing else needs them.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../build/paths.js'
import { probe } from '../build/run.js'
import type { Report } from './report.js'

const extension = 'sigs.k8s.io/gateway-api-inference-extension@v1.5.0'
const kserve = 'github.com/kserve/kserve@v0.17.0'
const folder = join(root, 'build', 'deploy', 'go')
/** Beside the modules: Go would take those for parts of it. */
const own = join(folder, 'check')
const source = join(root, 'scripts', 'deploy', 'nodes', 'kubernetes')

/** The file, and the module with its schema. */
const resources = [
  {
    file: 'inferencepool.yaml',
    module: extension,
    schema: 'config/crd/bases/inference.networking.k8s.io_inferencepools.yaml',
  },
  {
    file: 'llminferenceservice.yaml',
    module: kserve,
    schema: 'config/crd/full/llmisvc/serving.kserve.io_llminferenceservices.yaml',
  },
] as const

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: object }
    }[]
  }
}

/** Reads the configuration as the picker does: no member that it does not know. */
const program = `package main

import (
	"fmt"
	"os"

	config "sigs.k8s.io/gateway-api-inference-extension/apix/config/v1alpha1"
	"sigs.k8s.io/yaml"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = yaml.UnmarshalStrict(text, &config.EndpointPickerConfig{})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
`

function go(...args: string[]) {
  const env = { ...process.env, GOMODCACHE: join(folder, 'modules'), GOFLAGS: '-modcacherw' }
  return spawnSync('go', args, { cwd: own, env, encoding: 'utf8' })
}

/** @returns Its folder. */
function moduleOf(name: string): string {
  const { stdout, stderr } = go('mod', 'download', '-json', name)
  const { Dir, Error: error } = JSON.parse(stdout || '{}') as { Dir?: string; Error?: string }
  if (Dir === undefined) throw new Error(error ?? stderr)
  return Dir
}

/** @param modules - A `node_modules` with Ajv. */
export async function checkPickers(report: Report, modules: string): Promise<void> {
  if (probe('go', ['version']) === undefined) {
    return report.skip('nodes/kubernetes/', 'there is no go, which brings the schemas')
  }
  mkdirSync(own, { recursive: true })
  for (const { file, module, schema } of resources) {
    const value = parse(readFileSync(join(source, file), 'utf8')) as { readonly apiVersion: string }
    const text = readFileSync(join(moduleOf(module), schema), 'utf8')
    const wanted = value.apiVersion.split('/').at(-1)
    const version = (parse(text) as Definition).spec.versions.find(({ name }) => name === wanted)
    const faults =
      version === undefined
        ? `no version ${wanted}`
        : await faultsOf(modules, closed(version.schema.openAPIV3Schema), value)
    report.check(`${file} is as ${module} has it`, faults === '', faults)
  }
  checkConfiguration(report)
}

function checkConfiguration(report: Report): void {
  const file = join(source, 'endpoint-picker.yaml')
  const home = moduleOf(extension)
  const [name, version] = extension.split('@')
  writeFileSync(join(own, 'main.go'), program)
  writeFileSync(join(own, 'go.mod'), `module check\n\ngo 1.24\n\nrequire ${name} ${version}\n`)
  const tidy = go('mod', 'tidy')
  const read = tidy.status === 0 ? go('run', '.', file) : tidy
  report.check('endpoint-picker.yaml is read', read.status === 0, read.stdout + read.stderr)
  const config = parse(readFileSync(file, 'utf8')) as { plugins: readonly { type: string }[] }
  const known = textOf(join(home, 'pkg', 'epp'))
  const unknown = config.plugins
    .map(({ type }) => type)
    .filter((type) => !known.includes(`"${type}"`))
  report.check('the picker has its plugins', unknown.length === 0, unknown.join(', '))
}

/** The programs of a folder, without tests. */
function textOf(path: string): string {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join('\n')
}

/** A schema of Kubernetes drops what it does not name: here it must not be there. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)] as const)
  const copy = Object.fromEntries(entries) as Record<string, unknown>
  const isOpen =
    'additionalProperties' in copy ||
    copy['x-kubernetes-preserve-unknown-fields'] === true ||
    !('properties' in copy)
  return isOpen || copy['type'] !== 'object' ? copy : { ...copy, additionalProperties: false }
}

interface Ajv {
  validate(schema: unknown, value: unknown): boolean
  errorsText(): string
}

interface AjvModule {
  readonly default: { readonly Ajv: new (options: object) => Ajv }
}

async function faultsOf(modules: string, schema: unknown, value: unknown): Promise<string> {
  const { Ajv } = ((await import(join(modules, 'ajv', 'dist', 'ajv.js'))) as AjvModule).default
  const ajv = new Ajv({ strict: false, validateFormats: false })
  return ajv.validate(schema, value) ? '' : ajv.errorsText()
}
