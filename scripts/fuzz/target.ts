/**
 * The server under test: one of our own over an engine that answers at once, or any other.
 *
 * @module
 */

import { fileURLToPath } from 'node:url'
import { Child } from '../bench/child.js'

/** Bytes of memory. */
export interface Held {
  /** Objects of JavaScript, and what belongs to them. */
  readonly heap: number
  /** Of the process: with what glibc's malloc keeps of what was freed. */
  readonly resident: number
}

export interface Target extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly key: string
  /** What it holds in memory after a garbage collection; undefined where that cannot be asked. */
  held(): Promise<Held | undefined>
}

const script = fileURLToPath(new URL('../bench/front-server.js', import.meta.url))

/** Starts the whole server in a process of its own. */
export async function startTarget(): Promise<Target> {
  // With an arena for each thread, what malloc keeps differs by 150 MiB from one look to another.
  const node = ['MALLOC_ARENA_MAX=1', process.execPath]
  const child = new Child('env', [...node, script, 'uws', 'sees'])
  const [, port, key] = await child.match(/"port":(\d+),"key":"(oi-[\w-]{43})"/)
  let collections = 0
  return {
    host: '127.0.0.1',
    port: Number(port),
    key: key!,
    held: async () => {
      try {
        process.kill(child.pid!, 'SIGUSR2')
        const numbers = `"collection":${++collections},"heap":(\\d+),"resident":(\\d+)`
        const [, heap, resident] = (await child.match(new RegExp(numbers))).map(Number)
        return { heap: heap!, resident: resident! }
      } catch {
        return undefined // it has ended, which the connections tell
      }
    },
    [Symbol.asyncDispose]: () => child.stop(),
  }
}

/** A server that runs already. @param url - Of plain HTTP, without a path. */
export function givenTarget(url: URL, key: string): Target {
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port === '' ? 80 : url.port),
    key,
    held: async () => undefined,
    [Symbol.asyncDispose]: async () => {},
  }
}
