/**
 * Asks a running server over its admin socket.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { errorTable, type ErrorCode, OiError } from '../../errors.js'
import { type AdminAddress, adminAddress } from './address.js'
import type { Input, OnProgress } from './operations.js'
import { Lines, type Reply } from './protocol.js'

/**
 * @param dataDir - The server's.
 * @returns The operation's result.
 * @throws {@link OiError} The operation's errors; `ERR_REMOTE` if no server runs on that folder, or
 *   it ends before it answers; `ERR_ACCOUNTS` if the folder does not exist.
 */
export async function askServer(
  dataDir: string,
  operation: string,
  input: Input,
  onProgress: OnProgress = () => {},
): Promise<unknown> {
  const socket = await connectTo(dataDir)
  try {
    socket.write(`${JSON.stringify({ ...input, operation })}\n`)
    const lines = new Lines()
    for await (const text of socket.setEncoding('utf8') as AsyncIterable<string>) {
      for (const line of lines.push(text) ?? []) {
        const reply = JSON.parse(line) as Reply
        if ('result' in reply) return reply.result
        if ('error' in reply) throw errorOf(reply.error)
        onProgress(reply.progress)
      }
    }
    throw new Error('The connection was closed')
  } catch (cause) {
    if (cause instanceof OiError) throw cause
    const message = `The server of ${dataDir} ended before it answered`
    throw new OiError('ERR_REMOTE', message, { cause })
  } finally {
    socket.destroy()
  }
}

/**
 * @throws {@link OiError} `ERR_ACCOUNTS` if a server runs on a data folder; `ERR_REMOTE` if one may
 *   run, and cannot be asked.
 */
export async function requireUnserved(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  try {
    const socket = await connectTo(dataDir)
    socket.destroy()
  } catch (error) {
    // Without a valid address there can be no server.
    if ((error as OiError).code === 'ERR_CONFIG') return
    const cause = (error as OiError).cause as NodeJS.ErrnoException | undefined
    if (cause?.code === 'ENOENT' || cause?.code === 'ECONNREFUSED') return
    throw error
  }
  throw new OiError('ERR_ACCOUNTS', `A server runs on the data folder ${dataDir}: stop it first`)
}

async function connectTo(dataDir: string): Promise<Socket> {
  let address: AdminAddress | undefined
  try {
    address = adminAddress(dataDir)
    return await connected(connect(address.path))
  } catch (cause) {
    if (cause instanceof OiError) throw cause
    const { code, message: why } = cause as NodeJS.ErrnoException
    const nobody = code === 'ENOENT' || code === 'ECONNREFUSED'
    const reason = nobody ? '' : ` that can be asked: ${why}`
    const message = `No server runs on the data folder ${dataDir}${reason}`
    throw new OiError('ERR_REMOTE', `${message} (see --data-dir)`, { cause })
  } finally {
    address?.release()
  }
}

function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      // The reader sees errors from here on.
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

function errorOf({ code, message }: { code: string; message: string }): OiError {
  return new OiError(code in errorTable ? (code as ErrorCode) : 'ERR_REMOTE', message)
}
