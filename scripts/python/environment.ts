/**
 * A virtual environment of Python with the programs that oi is tried with, made once.
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
const folder = join(root, 'build/python')

/**
 * Makes the environment unless it is there and has what `requirements.txt` names.
 *
 * @returns The path of its `python`, or why there is none.
 */
export async function pythonEnvironment(): Promise<{ python: string } | { missing: string }> {
  const python = join(folder, 'bin/python')
  const mark = join(folder, 'made-of')
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return { python }
  rmSync(folder, { recursive: true, force: true })
  try {
    await execute('python3', ['-m', 'venv', folder])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile']
    // Without a connection pip would try for a minute.
    await execute(python, [...pip, '--retries', '1', '--timeout', '15', 'uv==0.13.9'])
    const uv = ['-m', 'uv', 'pip', 'install', '--quiet', '--python', python, '-r', requirements]
    await execute(python, uv)
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
