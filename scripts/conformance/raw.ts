/**
 * Raw bytes over a new connection, for requests that an HTTP client never sends.
 *
 * @module
 */

import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type HttpReply, ReplyReader } from '../reply-reader.js'
import type { Reply } from './client.js'
import { Failure } from './expect.js'

export interface RawOptions {
  /** Reads nothing until everything has been written, as simple clients do. */
  readonly writesFirst?: boolean
}

const limitMs = 30_000

/**
 * The first replies, up to `most`, or all until the server closes.
 *
 * @throws {@link Failure} if one is not whole or not HTTP.
 */
export async function exchangeRaw(
  base: URL,
  bytes: string | Uint8Array,
  most: number,
  { writesFirst = false }: RawOptions = {},
): Promise<readonly Reply[]> {
  const socket = open(base)
  const reader = new ReplyReader('any')
  const replies: Reply[] = []
  /** @returns Whether there is nothing more to wait for. */
  const take = (ended: boolean): boolean => {
    while (replies.length < most) {
      const reply = reader.next(false, ended)
      if (reply === undefined) break
      replies.push(replyOf(reply))
    }
    if (ended && replies.length < most && reader.pending > 0) throw new Error('a reply is cut off')
    return ended || replies.length === most
  }
  try {
    await new Promise<void>((resolve, reject) => {
      const look = (ended: boolean) => {
        try {
          if (take(ended)) resolve()
        } catch (error) {
          socket.destroy(error as Error)
        }
      }
      socket.on('data', (data) => {
        reader.push(data)
        look(false)
      })
      socket.on('end', () => look(true))
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('the connection was closed')))
      socket.setTimeout(limitMs, () => reject(new Error(`nothing for ${limitMs / 1000} s`)))
      if (writesFirst) socket.pause()
      socket.write(bytes, () => socket.resume())
    })
    return replies
  } catch (error) {
    throw new Failure(`no whole reply: ${(error as Error).message}`)
  } finally {
    socket.destroy()
  }
}

function open({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol !== 'https:') return connect(Number(port || 80), host)
  // No rule of the interface is about certificates.
  return connectTls({ host, port: Number(port || 443), rejectUnauthorized: false })
}

function replyOf({ status, headers, body }: HttpReply): Reply {
  return { status, headers: Object.fromEntries(headers), text: body.toString('utf8') }
}
