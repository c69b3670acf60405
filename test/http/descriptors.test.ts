/** No descriptors left: connections are refused with a message, and the server goes on. */
import t from 'tap'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { RawClient, request } from '../helpers/raw-client.js'
import { ServerProcess } from '../helpers/server-process.js'

// Node reads modules all at once: with 200, a start fails every now and then.
const limit = 400

for (const transport of ['uws', 'node'] as const) {
  t.test(`${transport}: more connections than descriptors do not end the server`, async (t) => {
    const through = ['bash', '-c', `ulimit -n ${limit} && exec "$@"`, 'bash']
    const args = ['--transport', transport]
    const server = await ServerProcess.start(t, { through, args })
    const { pid } = server.child
    const port = Number(new URL(server.url('')).port)

    const clients: RawClient[] = []
    for (let i = 0; i < limit + 100; i++) clients.push(await RawClient.connect(port))
    for (const client of clients) client.send(request('GET', '/healthz'))
    const replies = await Promise.all(
      clients.map((client) => client.reply().catch(() => undefined)),
    )
    const statuses = replies.map((reply) => reply?.status)
    const served = statuses.filter((status) => status === 200).length
    t.ok(served >= 50 && served < limit, `${served} are served`)
    const open = (await readdir(`/proc/${pid}/fd`)).length
    t.ok(limit - open >= 40, `${open} are in use: some are left for files`)
    if (transport === 'uws') {
      const refused = replies.find((reply) => reply?.status === 503)
      t.match(JSON.parse(refused!.body), { error: { code: 'overloaded' } })
      t.match(refused!.headers, { 'retry-after': '1', 'x-request-id': /^req_/ })
    }
    const used = await cpuMs(pid!)
    await sleep(500)
    t.ok((await cpuMs(pid!)) - used < 400, 'nothing spins while they are all in use')

    for (const client of clients) client.socket.destroy()
    await server.until(async () => {
      const client = await RawClient.connect(port)
      client.send(request('GET', '/healthz'))
      const reply = await client.reply().catch(() => undefined)
      client.socket.destroy()
      return reply?.status === 200
    })
    t.equal(await server.stop(), 0)
  })
}

/** What a process has used of the processor, milliseconds. */
async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
