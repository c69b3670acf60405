/**
 * A stream over a network with small buffers: all of it arrives, also across the server's end.
 *
 * With pieces of 16 KiB more than one megabyte of twelve was lost: the library drops the rest of a
 * piece that its connection takes only in part. The test runs itself in its own network namespace;
 * where that is not allowed, it is skipped.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { openBatch, requestsAbout } from '../helpers/batch.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const inside = process.env['OI_TEST_SLOW_NETWORK'] === '1'
const itemBytes = 2_000_000

const buffers = 'echo "4096 16384 65536" > /proc/sys/net/ipv4/tcp_wmem'
const namespace = (command: string) =>
  spawnSync('unshare', ['-rn', 'sh', '-c', `ip link set lo up && ${buffers} && ${command}`], {
    encoding: 'utf8',
    env: { ...process.env, OI_TEST_SLOW_NETWORK: '1' },
  })

if (inside) {
  t.test('every byte of a stream arrives', (t) => {
    const model = 'm'.repeat(itemBytes)
    const decider = stubDecider(async () => ({ ...decision, model }))
    return withServer({ decider }, async (server) => {
      const reply = await openBatch(server, requestsAbout([1, 2, 3]))
      await until(() => server.server.leaving === 1)
      const closed = server.server.close(20_000)
      let text = ''
      reply.setEncoding('latin1')
      for await (const part of reply as AsyncIterable<string>) text += part
      await closed
      const lines = text.trimEnd().split('\n')
      t.equal(lines.length, 4)
      for (const line of lines.slice(0, 3)) {
        t.ok((JSON.parse(line) as { model: string }).model === model)
      }
    })
  })
} else {
  const skip = namespace('true').status === 0 ? false : 'no network namespaces here'
  t.test('small buffers of a network lose nothing', { skip }, async (t) => {
    const { status, stdout } = namespace(`"${process.execPath}" "${process.argv[1]}"`)
    t.equal(status, 0, stdout)
  })
}
