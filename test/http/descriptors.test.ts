/** File descriptors that are used up: the server waits for some, and ends nothing. */
import t from 'tap'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServerProcess } from '../helpers/server-process.js'

t.test(
  'without descriptors, open connections are served, and new ones once there are',
  async (t) => {
    const through = ['sh', '-c', 'ulimit -n 200; exec "$@"', 'sh']
    const server = await ServerProcess.start(t, { through })
    const { port } = new URL(server.url('/'))
    const idle = Array.from({ length: 300 }, () => connect(Number(port), '127.0.0.1'))
    await Promise.all(idle.map((socket) => once(socket, 'connect')))
    await server.ask(20)

    const late = connect(Number(port), '127.0.0.1')
    late.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    const answered = once(late, 'data')
    await sleep(300)
    for (const socket of idle) socket.destroy()
    t.match(String(await answered), /^HTTP\/1\.1 200/)
    late.destroy()
    t.equal(await server.stop(), 0)
  },
)
