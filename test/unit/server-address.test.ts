import t from 'tap'
import { serverAddress } from '../../src/cli/input/values.js'

t.test("a server's address may end with /v1 and slashes", async (t) => {
  for (const [text, address] of [
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['http://localhost:8080/v1', 'http://localhost:8080'],
    ['https://oi.example/a/v1//', 'https://oi.example/a'],
    ['https://oi.example/v1/a', 'https://oi.example/v1/a'],
  ] as const) {
    t.equal(serverAddress('--url', text), address, text)
  }
})

t.test('a malformed address is refused, naming the flag', async (t) => {
  for (const text of ['', 'oi.example', 'localhost:8080', 'ftp://oi.example', '//oi.example']) {
    const message = `--url: expected an address like http://localhost:8080, got ${text}`
    t.throws(() => serverAddress('--url', text), { code: 'ERR_CONFIG', message })
  }
})
