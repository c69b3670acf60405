import t from 'tap'
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
