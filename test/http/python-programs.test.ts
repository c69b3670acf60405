/**
 * Programs of others from PyPI, unmodified, and the guide of those who write such programs. Skipped
 * where PyPI cannot be reached, but never in CI.
 */
import t, { type Test } from 'tap'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../scripts/build/paths.js'
import type { Report } from '../../scripts/bench/report.js'
import { pythonEnvironment } from '../../scripts/python/environment.js'
import { programRows, runPrograms } from '../../scripts/python/programs.js'
import { oi } from '../helpers/command.js'
import { blocks, commands, readGuide } from '../helpers/guides.js'
import { expectOneNodeAState } from '../helpers/nodes.js'
import { ServerProcess } from '../helpers/server-process.js'

const environment = await pythonEnvironment()
const python = 'python' in environment ? environment.python : ''
const missing = 'missing' in environment ? environment.missing : undefined
const skip = !process.env['CI'] && missing !== undefined && missing

t.test('programs from PyPI work, and what is listed as failing fails', { skip }, async (t) => {
  t.equal(missing, undefined)
  const checks = await runPrograms(python)
  for (const { program, check, why, known } of checks) {
    if (known === undefined) t.equal(why, null, `${program}: ${check}`)
    else t.not(why, null, `${program}: ${check}: fails, as ${known}`)
  }
  const programs = programRows(checks).map(([program]) => program)
  t.strictSame(programs.sort(), [
    ...['hev-rerank', 'jevbench', 'jevcompat with a key', 'jevcompat without keys', 'litellm'],
    ...['litellm proxy', 'openai', 'pydecide', 'typesafe-sdk'],
  ])
})

t.test(
  'Envoy: requests about a state go to one node, and a node stops without a failed request',
  { skip },
  (t) => expectOneNodeAState(t, 'envoy'),
)

t.test('the blocks of the guide for Python do what it says', { skip }, async (t) => {
  const { folder, url, key, run, env } = await guideServer(t)
  const guide = readGuide('src/client/python/README.md')
  const types = commands(guide).find((command) => command.startsWith('datamodel-codegen'))!
  const command = types.replace('http://127.0.0.1:8080', url)
  await promisify(execFile)('sh', ['-c', command], { cwd: folder, env })
  const page = blocks(guide, 'python')
  t.equal(page.length, 9)
  const { stdout } = await run(page.join('\n'))
  t.match(stdout, /^0\.\d+ accounts 0\.\d+\n/)
  t.match(stdout, /\naccounts +\d+\n/)
  t.equal(stdout.match(/\b0 failed\n/g)?.length, 2, 'with pandas and with polars')
  t.match(stdout, /\n400 invalid_request req_[0-9a-f]{32} /)
  const rows = join(folder, 'rows.jsonl')
  t.equal(readFileSync(rows, 'utf8').trim().split('\n').length, 12)
  const { code, stdout: figures } = await oi(['eval', rows, '--url', url, '--key', key])
  t.equal(code, 0, figures)
})

t.test('the notebook for Python ends in its two pictures', { skip }, async (t) => {
  const { folder, run } = await guideServer(t)
  const [, rows] = blocks(readGuide('src/client/python/README.md'), 'python')
  await run(rows!)
  const notebook = readFileSync(join(root, 'src/client/python/tickets.ipynb'), 'utf8')
  const { cells } = JSON.parse(notebook) as { cells: { cell_type: string; source: string[] }[] }
  const code = cells.filter(({ cell_type: type }) => type === 'code')
  await run(code.map(({ source }) => source.join('')).join('\n'))
  for (const picture of ['confusion.png', 'calibration.png']) {
    t.ok(statSync(join(folder, picture)).size > 5000, picture)
  }
})

t.test('the bench of coherence asks a server, and has its figures', { skip }, async (t) => {
  const json = join(t.testdir(), 'coherence.json')
  const args = ['coherence', '--quick', '--unsaved', '--json', json]
  await promisify(execFile)(process.execPath, [join(root, 'dist/scripts/bench/main.js'), ...args])
  const { figures } = JSON.parse(readFileSync(json, 'utf8')) as Report
  t.match(figures[0], { layer: 'coherence', name: 'overall', unit: '%' })
  for (const { name, values } of figures) t.ok(values[0]! >= 0 && values[0]! <= 100, name)
})

t.test("the README's lines of Python are answered", { skip }, async (t) => {
  const { url, key, run } = await guideServer(t)
  const [block] = blocks(readGuide('README.md'), 'python')
  const { stdout } = await run(block!.replace('http://127.0.0.1:8080', url).replace('oi-…', key))
  t.match(stdout, /^0\.\d+\n$/)
})

/** A server with a key, and a folder in which Python runs with both in its environment. */
async function guideServer(t: Test) {
  const folder = t.testdir()
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  await oi(['workspaces', 'create', 'first', '--data-dir', dataDir])
  const { stdout } = await oi(['keys', 'create', '--workspace', 'first', '--data-dir', dataDir])
  const [key] = /oi-\S+/.exec(stdout)!
  const server = await ServerProcess.start(t, { model: 'real', dataDir })
  const url = server.url('').replace(/\/$/, '')
  const env = {
    ...process.env,
    PATH: [dirname(python), process.env['PATH']].join(delimiter),
    ...{ TYPESAFE_BASE_URL: url, TYPESAFE_API_KEY: key, MPLBACKEND: 'Agg' },
  }
  const run = (text: string) => promisify(execFile)(python, ['-c', text], { cwd: folder, env })
  return { folder, url, key, run, env }
}
