import t from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../../src/api/openapi/document.js'
import { oi } from '../helpers/command.js'

t.test('oi openapi prints the document', async (t) => {
  const { code, stdout, stderr } = await oi(['openapi'])
  t.equal(code, 0)
  t.equal(stderr, '')
  t.equal(stdout, `${JSON.stringify(openApiDocument(), null, 2)}\n`)
})

t.test('--server is the server in the document', async (t) => {
  const { code, stdout } = await oi(['openapi', '--server', 'https://oi.example/a/v1'])
  t.equal(code, 0)
  const { servers } = JSON.parse(stdout) as { servers: unknown }
  t.strictSame(servers, [{ url: 'https://oi.example/a' }])
})

t.test('a malformed server address is wrong usage: 2', async (t) => {
  const { code, stdout, stderr } = await oi(['openapi', '--server', 'oi.example'])
  t.equal(code, 2)
  t.equal(stdout, '')
  t.match(stderr, /--server: expected an address like http/)
})

// BUG: a write without a reader was an exception, with its stack.
t.test('a reader that stops, as head does, causes no message', async (t) => {
  const command = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
  const child = spawn(process.execPath, [command, 'openapi'])
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  // Before the command writes anything: its first write fails.
  child.stdout.destroy()
  const [code] = (await once(child, 'close')) as [number]
  t.equal(code, 0)
  t.equal(said, '')
})
