/** Commands in a folder without accounts, and the commands that they print. */
import t from 'tap'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { oi } from '../helpers/command.js'

t.test('a command that makes nothing leaves a folder without accounts as it is', async (t) => {
  const folder = t.testdir()
  const data = ['--data', join(folder, 'data')]
  for (const command of [
    'keys list',
    'keys create',
    'workspaces credit x 1',
    'models price',
    'models status',
    'admin check',
    'admin backup',
  ]) {
    const { code, stderr, stdout } = await oi([...command.split(' '), ...data])
    t.equal(code, 1, command)
    t.match(stderr, /^oi: (?:There are no accounts in|No server runs on the data folder) .*data/)
    t.equal(stdout, '')
  }
  t.match(await oi(['models', 'list', ...data]), { code: 0, stdout: /oi-small .* this package/ })
  t.strictSame(readdirSync(folder), [])
})

t.test('a folder above the data folder is never made: its disk may not be mounted', async (t) => {
  const folder = t.testdir({ 'oi-copy.gguf': '' })
  const data = ['--data', join(folder, 'disk', 'data')]
  for (const command of [
    'serve --port 0',
    'workspaces create shop',
    `admin restore ${join(folder, 'oi-copy.gguf')}`,
    `models pull ${join(folder, 'oi-copy.gguf')}`,
  ]) {
    const { code, stderr, stdout } = await oi([...command.split(' '), ...data])
    t.match({ code, stderr }, { code: 2, stderr: /^oi: There is no folder .*\/disk: / }, command)
    t.equal(stdout, '')
  }
  t.strictSame(readdirSync(folder), ['oi-copy.gguf'])
})

t.test('a command to paste is quoted for the shell', async (t) => {
  const data = ['--data', t.testdir()]
  const name = `-a'b; touch x #`
  t.match(await oi(['workspaces', 'create', ...data, '--', name]), {
    code: 0,
    stdout: `Next: oi keys create --workspace '-a'\\''b; touch x #'\n`,
  })
  t.match(await oi(['keys', 'create', '--workspace', `${name}2`, ...data]), {
    code: 1,
    stderr: `oi workspaces create -- '-a'\\''b; touch x #2'\n`,
  })
  const [, hint] = /Next: oi (.*)/.exec(
    (await oi(['workspaces', 'create', '$HOME `id`', ...data])).stdout,
  )!
  const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\n' ${hint!}`])
  t.equal(stdout, 'keys\ncreate\n--workspace\n$HOME `id`\n')
})
