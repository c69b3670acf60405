/**
 * `npm run matrix`: the packed packages on releases of Debian and Node, used as a user would.
 *
 * @module
 */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../build/paths.js'
import { BuildError, BuildStopped, probe, run } from '../build/run.js'
import { runCommand, UsageError } from '../command.js'
import { putInGuide } from '../markdown.js'
import { systemName, systems } from '../package/manifests.js'
import { checkArm64 } from './arm64.js'
import { check, type Subject } from './checks.js'
import { checkCompile } from './compile.js'
import { checkMeans, DebianTree, matrixDir, releases } from './debian.js'
import { betterSqlite, needsOlderSqlite, nodeRelease, npmPackage } from './nodes.js'
import type { NodeRelease } from './nodes.js'
import { allPassed, type Row, summaryOf, tableOf } from './table.js'

const usage = `Usage: npm run matrix -- [options]

  --debian N   a release of Debian, may be repeated: ${Object.keys(releases).join(', ')} (default all)
  --node N     a release of Node or latest, may be repeated (default 20, 22, 24 and latest)
  --arm64      instead, the package of linux-arm64 under qemu (default --node 22)
  --compile    instead, npx oi build with only the system packages that it names (default --node 22)
  --write      writes the result into scripts/matrix/README.md instead of printing it

Needs root and Debian's package debootstrap. Downloads some 1.5 GB, once, to build/matrix.
Exit codes: 0 everything ran and passed, 1 something did not, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      debian: { type: 'string', multiple: true, default: Object.keys(releases) },
      node: { type: 'string', multiple: true },
      arm64: { type: 'boolean', default: false },
      compile: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  })
  const unknown = values.debian.find((name) => releases[name] === undefined)
  if (unknown !== undefined) throw new UsageError(`--debian: there is no release ${unknown}`)
  const wrong = values.node?.find((name) => !/^(?:\d+|latest)$/.test(name))
  if (wrong !== undefined) throw new UsageError(`--node: expected a number or latest, got ${wrong}`)
  if (values.arm64 && values.compile) throw new UsageError('--arm64 or --compile, not both')
  if (values.compile && (values.node?.length ?? 0) > 1) {
    throw new UsageError('--node: expected one with --compile')
  }
  mkdirSync(matrixDir, { recursive: true })
  try {
    if (values.arm64) return await arm64(values.node ?? ['22'], values.write)
    if (values.compile) return await compile(values.debian, values.node?.[0] ?? '22', values.write)
    return await x64(values.debian, values.node ?? ['20', '22', '24', 'latest'], values.write)
  } finally {
    rmSync(join(matrixDir, 'work'), { recursive: true, force: true })
  }
}

async function arm64(nodes: readonly string[], write: boolean): Promise<number> {
  const commit = await pack(systems.map(systemName))
  const { ok, text } = await checkArm64(nodes)
  publish('npm run matrix -- --arm64 --write', text, commit, write)
  return ok ? 0 : 1
}

async function compile(debian: readonly string[], node: string, write: boolean): Promise<number> {
  checkMeans()
  const commit = await pack([`${process.platform}-${process.arch}`])
  publish('npm run matrix -- --compile --write', await checkCompile(debian, node), commit, write)
  return 0
}

async function x64(debian: readonly string[], names: readonly string[], write: boolean) {
  checkMeans()
  const trees: DebianTree[] = []
  for (const release of debian) trees.push(await DebianTree.make(release))
  const npm = await npmPackage()
  const nodes: NodeRelease[] = []
  for (const name of names) nodes.push(await nodeRelease(name))
  const commit = await pack([`${process.platform}-${process.arch}`])
  const rows: Row[] = []
  for (const node of distinct(nodes)) {
    const sqlite = await sqliteFor(node, npm)
    for (const tree of trees) {
      console.error(`Debian ${tree.version}, Node ${node.version}`)
      const folder = join(matrixDir, 'work', `${tree.version}-${node.version}`)
      const results = await check({ tree, node, npm, folder, sqlite })
      rmSync(folder, { recursive: true, force: true })
      rows.push({ debian: tree.version, node: node.version, results })
    }
  }
  rows.sort((a, b) => Number(a.debian) - Number(b.debian))
  publish('npm run matrix -- --write', tableOf(rows), commit, write)
  console.log(summaryOf(rows))
  return allPassed(rows) ? 0 : 1
}

/** The newest release may be among the named ones. */
function distinct(nodes: readonly NodeRelease[]): NodeRelease[] {
  return [...new Map(nodes.map((node) => [node.version, node])).values()]
}

async function sqliteFor(node: NodeRelease, npm: string): Promise<Subject['sqlite']> {
  if (!needsOlderSqlite(node)) return undefined
  try {
    return { folder: await betterSqlite(node, npm) }
  } catch (error) {
    if (!(error instanceof BuildError) || error instanceof BuildStopped) throw error
    return { missing: `better-sqlite3 could not be compiled for Node ${node.version}` }
  }
}

/** @returns The commit that was packed. */
async function pack(platforms: readonly string[]): Promise<string> {
  const commit = probe('git', ['-C', root, 'describe', '--always', '--dirty', '--abbrev=12'])
  const flags = platforms.flatMap((name) => ['--platform', name])
  await run('npm', ['run', '--silent', 'package', '--', ...flags], { cwd: root })
  return commit ?? 'unknown'
}

/** @param command - The command that writes it, which marks its place in the README. */
function publish(command: string, text: string, commit: string, write: boolean): void {
  const content = `${text}\n\n${new Date().toISOString().slice(0, 10)}, commit ${commit}`
  console.log(content)
  if (write) putInGuide({ guide: 'scripts/matrix/README.md', command }, content)
}
