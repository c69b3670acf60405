/**
 * Runs programs of others from PyPI, unmodified, against two servers of this tree with the default
 * model: one with a key, one with `--anonymous loopback`. What each does is in `programs.py`.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cuttingProxy } from '../../test/helpers/cutting-proxy.js'
import { root } from '../build/paths.js'
import { oi, startServer } from '../oi.js'
import { pinnedVersions } from './environment.js'

const execute = promisify(execFile)

export interface Check {
  readonly program: string
  readonly check: string
  /** Null if it passed. */
  readonly why: string | null
  /** Why it fails, and may. */
  readonly known: string | undefined
}

const ours = 'the interface has a shape of its own for errors, which the official clients read too'

/** What fails, and why that stays: a test fails when one of these begins to pass. */
const knownFailures: Readonly<Record<string, string>> = {
  'response.extensions': '`latency_ms` is part of the interface',
  'errors.validation-shape': ours,
  'errors.shape': ours,
  'auth.missing': ours,
  'auth.invalid': ours,
  'the official client speaks compressed through the proxy':
    "LiteLLM's proxy does not read compressed bodies",
  'the official client lists models through the proxy':
    "LiteLLM's proxy answers /v1/models itself, without `models`",
  'the id comes back through the proxy': "LiteLLM's proxy drops the server's headers",
}

/** @param python - Of {@link pythonEnvironment}. */
export async function runPrograms(python: string): Promise<readonly Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'oi-python-'))
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  try {
    const serve = async (name: string, flags: readonly string[]) => {
      const { child, port } = await startServer(join(folder, name), flags)
      ends.unshift(() => child.stop())
      return port
    }
    const dataDir = join(folder, 'keys')
    oi(dataDir, 'workspaces', 'create', 'default')
    const key = oi(dataDir, 'keys', 'create', '--name', 'test')
    const ports = [await serve('keys', []), await serve('open', ['--anonymous', 'loopback'])]
    const [url, open] = ports.map((port) => `http://127.0.0.1:${port}`)
    const proxy = await cuttingProxy(ports[0]!)
    ends.unshift(() => proxy.close())
    const script = join(root, 'scripts/python/programs.py')
    const args = [script, url!, key, proxy.url, open!]
    const { stdout } = await execute(python, args, { maxBuffer: 2 ** 26 })
    return stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Omit<Check, 'known'>)
      .map((check) => ({
        ...check,
        known: knownFailures[check.check.split(' ').at(-1)!] ?? knownFailures[check.check],
      }))
  } finally {
    for (const end of ends) await end()
  }
}

/** One row a program: its version, and how many of its checks passed and failed. */
export function programRows(checks: readonly Check[]): readonly (readonly string[])[] {
  const versions = pinnedVersions()
  return [...new Set(checks.map(({ program }) => program))].map((program) => {
    const own = checks.filter((check) => check.program === program)
    const failed = own.filter(({ why }) => why !== null)
    const version = versions.get(program.split(' ')[0]!)!
    return [program, version, `${own.length - failed.length}`, `${failed.length}`]
  })
}
