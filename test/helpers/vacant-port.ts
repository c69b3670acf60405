/** Ports of this machine for the servers of tests. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Lets a server listen on loopback. @returns The port, which the system chooses. */
export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/**
 * A vacant port outside of the range from which systems choose: it stays vacant while other tests
 * open ports.
 */
export async function vacantPort(): Promise<number> {
  for (;;) {
    // Below the range from which systems choose.
    const port = 20_000 + Math.floor(10_000 * Math.random())
    const probe = createServer().listen(port, '127.0.0.1')
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
