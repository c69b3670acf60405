/**
 * Projects that use the packed packages, and programs in them, as a user would write them.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

/** The end of every program: one decision by the model of the package. */
const decide = `
  const oi = await open({ threads: 1 })
  const { answers } = await oi.decide({
    state: 'My card was charged twice.',
    questions: { money: { type: 'noul', instructions: 'Is this about money?' } },
  })
  console.log(JSON.stringify(answers))
  await oi.close()
`

/** The output of such a program. */
export const answer = /^\{"money":\{"type":"noul","noul":0\.\d+\}\}$/m

export const programs = {
  esm: `import { open } from 'oi-systemone'\n${decide}`,
  commonJs: `const { open } = require('oi-systemone')\nvoid (async () => {${decide}})()\n`,
  worker: `import { Worker } from 'node:worker_threads'
new Worker(new URL('app.mjs', import.meta.url))\n`,
  typescript: `import { type Decision, open, OiError } from 'oi-systemone'
import { createClient } from 'oi-systemone/client'

async function main(): Promise<void> {
  const oi = await open({ threads: 1 })
  const decision: Decision = await oi.decide({
    state: 'My card was charged twice.',
    questions: { money: { type: 'noul', instructions: 'Is this about money?' } },
  })
  // @ts-expect-error There is no such option: the types are there, and no \`any\`.
  await open({ treads: 1 }).catch((error: unknown) => error instanceof OiError)
  console.log(JSON.stringify(decision.answers))
  await oi.close()
}

void main()
void createClient
`,
} as const

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  /** Standard output and standard error. */
  readonly output: string
}

/** A user's project, empty but for its `package.json`. */
export class Project {
  readonly folder: string

  /** @param folder - Emptied first; by default a new folder with a name that users might choose. */
  constructor(t: Test, manifest: Readonly<Record<string, unknown>> = {}, folder?: string) {
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'oi Größe '))
    const remove = () => rmSync(this.folder, { recursive: true, force: true })
    if (folder !== undefined) remove()
    t.teardown(remove)
    this.write('package.json', JSON.stringify({ name: 'project', private: true, ...manifest }))
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }

  /** Runs a program in the folder to its end. */
  run(
    command: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const env: NodeJS.ProcessEnv = { ...process.env, ...environment }
    // The variable that chooses the addon for other tests.
    delete env['OI_ADDON']
    const child = spawn(command, args, { cwd: this.folder, env })
    let [stdout, output] = ['', '']
    child.stdout.on('data', (data) => {
      stdout += data
      output += data
    })
    child.stderr.on('data', (data) => (output += data))
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status) => resolve({ status, stdout, output }))
    })
  }

  node(...args: string[]): Promise<Outcome> {
    return this.run(process.execPath, args)
  }

  oi(...args: string[]): Promise<Outcome> {
    return this.node(join('node_modules', '.bin', 'oi'), ...args)
  }
}
