/**
 * SIGTERM to `oi serve` under load, while clients slowly read large replies: no reply is cut.
 *
 * Needs the built addon.
 */
import t from 'tap'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../helpers/raw-client.js'
import { Served } from '../helpers/served.js'

/** More than the buffers of a local connection hold. */
const replyBytes = 6_000_000
const drainMs = 800

/** A request with a long reply and little work: the model never sees the names of questions. */
const name = 'long name '.repeat(replyBytes / 10)
const large = JSON.stringify({
  state: 'It rains.',
  questions: { [name]: { type: 'noul', instructions: 'Is it wet?' } },
})

/** Asks, and reads the reply at about 3 MB a second. @returns The received part of its body. */
async function askSlowly({ server, headers }: Served, onBegin: () => void): Promise<Buffer> {
  const { port } = new URL(server.url('/'))
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  socket.write(request('POST', '/v1/systemone', headers, large))
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      if (chunks.length === 0) onBegin()
      chunks.push(chunk)
      length += chunk.length
      await sleep(chunk.length / 3000)
      if (length > replyBytes && isWhole(Buffer.concat(chunks))) break
    }
  } catch {
    // The reply was cut: the missing part shows.
  }
  socket.destroy()
  const reply = Buffer.concat(chunks)
  return reply.subarray(reply.indexOf('\r\n\r\n') + 4)
}

function isWhole(reply: Buffer): boolean {
  const head = reply.indexOf('\r\n\r\n') + 4
  const [, length] = /content-length: (\d+)/i.exec(reply.toString('latin1', 0, head))!
  return reply.length - head === Number(length)
}

t.test('SIGTERM under load cuts no reply, however slowly it is read', async (t) => {
  // On any machine, only the signal ends a request.
  const args = ['--threads', '1', '--max-body-bytes', '8000000', '--deadline-ms', '600000']
  const environment = { OI_DRAIN_MS: String(drainMs), OI_GRACE_MS: '600000' }
  const served = await Served.start(t, { args, environment })
  let begun = 0
  const slow = Array.from({ length: 4 }, () => askSlowly(served, () => begun++))
  const statuses: Record<string, number> = {}
  const early: unknown[] = []
  let stoppedMs = Infinity
  let running = true
  t.teardown(() => (running = false))
  const quick = Array.from({ length: 8 }, async (_, client) => {
    for (let i = 0; running; i++) {
      try {
        const { status, body } = await served.decide(`It rains on day ${i} of client ${client}.`)
        JSON.parse(body)
        statuses[status] = (statuses[status] ?? 0) + 1
      } catch (error) {
        // Connections are refused, but only after /readyz has said so for a while.
        if (performance.now() < stoppedMs + drainMs) early.push(error)
        await sleep(50)
      }
    }
  })
  await served.server.until(() => begun >= 4)
  served.server.child.kill('SIGTERM')
  stoppedMs = performance.now()
  t.equal(await served.server.exited, 0)
  running = false
  await Promise.all(quick)

  for (const body of await Promise.all(slow)) {
    t.ok(body.length > replyBytes && body.toString('latin1').endsWith('}'), `${body.length} bytes`)
  }
  t.strictSame(early, [])
  t.ok(statuses['200']! > 8, JSON.stringify(statuses))
  for (const status of Object.keys(statuses)) t.ok(['200', '503'].includes(status), status)
})
