/**
 * Virtual environments of Python, made once: one with the programs that oi is tried with, others
 * with what a benchmark needs.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../build/paths.js'

const execute = promisify(execFile)
const requirements = join(root, 'scripts/python/requirements.txt')

interface Environment {
  /** Of what is installed. */
  readonly requirements: string
  /** In `build/`. */
  readonly name: string
  /** A file of versions that replace those that the requirements' own requirements name. */
  readonly overrides?: string
}

/**
 * Makes an environment unless it is there and has what its files name.
 *
 * @param environment - Default: the one with what `requirements.txt` names.
 * @returns The path of its `python`, or why there is none.
 */
export async function pythonEnvironment(
  environment: Environment = { requirements, name: 'python' },
): Promise<{ python: string } | { missing: string }> {
  const folder = join(root, 'build', environment.name)
  const python = join(folder, 'bin/python')
  const mark = join(folder, 'made-of')
  const { overrides } = environment
  const files = [environment.requirements, ...(overrides === undefined ? [] : [overrides])]
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  const wanted = hash.digest('hex')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return { python }
  rmSync(folder, { recursive: true, force: true })
  try {
    await execute('python3', ['-m', 'venv', folder])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile']
    // Without a connection pip would try for a minute.
    await execute(python, [...pip, '--retries', '1', '--timeout', '15', 'uv==0.13.9'])
    const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--python', python]
    const more = overrides === undefined ? [] : ['--override', overrides]
    await execute(python, [...uv, '-r', environment.requirements, ...more])
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr ?? error)
    return { missing: `Python's packages cannot be installed: ${said.trim().slice(-600)}` }
  }
  writeFileSync(mark, wanted)
  return { python }
}

/** The version of each installed package, as `requirements.txt` pins it. */
export function pinnedVersions(): ReadonlyMap<string, string> {
  const lines = readFileSync(requirements, 'utf8').matchAll(/^([\w.-]+)==(\S+)$/gm)
  return new Map([...lines].map(([, name, version]) => [name!, version!]))
}
