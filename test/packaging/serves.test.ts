/**
 * The packed package of the server, installed: it serves.
 *
 * Run by `npm run test:packages`, which packs it first.
 */
import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { serverName } from '../../scripts/package/manifests.js'
import { fromFiles, npmInstall, skip, succeeds, tarballs } from '../helpers/installed.js'
import { Project } from '../helpers/packed.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'

t.test('the server’s package serves', { skip }, async (t) => {
  const dependencies = { [serverName]: `file:${tarballs.server}` }
  const project = new Project(t, { ...fromFiles, dependencies })
  await succeeds(t, project.run('npm', npmInstall), 'is installed')
  const keys = ['workspaces', 'create', 'shop', '--data-dir', 'data']
  // npm chooses the version for this Node.
  if (Number(process.versions.napi) < 10) {
    t.match((await project.oi(...keys)).output, /npm rebuild better-sqlite3/)
    // The output of its install script, which takes a minute without a prebuilt binary.
    const binary = join('node_modules', 'better-sqlite3', 'build')
    cpSync(join(root, binary), join(project.folder, binary), { recursive: true })
  }
  await succeeds(t, project.oi(...keys), 'the accounts open')

  const made = await project.oi('keys', 'create', '--workspace', 'shop', '--data-dir', 'data')
  const authorization = `Bearer ${/^oi-\S+$/m.exec(made.output)?.[0]}`

  const port = String(await vacantPort())
  const oi = join(project.folder, 'node_modules', '.bin', 'oi')
  const serve = [oi, 'serve', '--port', port, '--data-dir', 'data', '--threads', '1']
  const child = spawn(process.execPath, serve, { cwd: project.folder })
  const exited = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (data) => (said += data))
  child.stderr.on('data', (data) => (said += data))
  let closed = false
  child.once('close', () => (closed = true))
  await until(
    () => said.includes('Ready'),
    () => (closed ? `oi serve ended with ${child.exitCode}:\n${said}` : undefined),
  )
  t.match(said, /Listening on \S+ \((?:uWebSockets\.js|node:http, as .+)\)/)
  const headers = { authorization, 'content-type': 'application/json' }
  const questions = { wet: { type: 'noul', instructions: 'Is it wet?' } }
  const body = JSON.stringify({ state: 'It rains.', questions })
  const url = `http://127.0.0.1:${port}/v1/systemone`
  const reply = await fetch(url, { method: 'POST', headers, body })
  t.equal(reply.status, 200, await reply.text())
  child.kill('SIGINT')
  t.strictSame(await exited, [0, null])
})
