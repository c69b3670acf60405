/**
 * Asks a running server over its admin socket.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { errorTable, type ErrorCode, OiError } from '../errors.js'
import { adminAddress } from './address.js'
import type { Input, OnProgress } from './operations.js'
import { Lines, type Reply } from './protocol.js'

/**
 * @param dataDir - That of the server.
 * @returns The operation's result.
 * @throws {@link OiError} What the operation throws; `ERR_REMOTE` if no server of that folder runs,
 *   or it ends before it has answered; `ERR_ACCOUNTS` if the folder is not there.
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
    const message = `The server of ${dataDir} ended before it had answered`
    throw new OiError('ERR_REMOTE', message, { cause })
  } finally {
    socket.destroy()
  }
}

/**
 * Whether a server runs on a data folder.
 *
 * @throws {@link OiError} `ERR_REMOTE` if one may, and cannot be asked.
 */
export async function isServed(dataDir: string): Promise<boolean> {
  if (!existsSync(dataDir)) return false
  try {
    const socket = await connectTo(dataDir)
    socket.destroy()
    return true
  } catch (error) {
    // Where no address fits, no server has one.
    if ((error as OiError).code === 'ERR_CONFIG') return false
    const cause = (error as OiError).cause as NodeJS.ErrnoException | undefined
    if (cause?.code === 'ENOENT' || cause?.code === 'ECONNREFUSED') return false
    throw error
  }
}

async function connectTo(dataDir: string): Promise<Socket> {
  const socket = connect(adminAddress(dataDir))
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      // What happens from here on is seen by whoever reads.
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', (cause: NodeJS.ErrnoException) => {
      const nobody = cause.code === 'ENOENT' || cause.code === 'ECONNREFUSED'
      const reason = nobody ? '' : ` that can be asked: ${cause.message}`
      const message = `No server runs on the data folder ${dataDir}${reason}`
      reject(new OiError('ERR_REMOTE', `${message} (see --data-dir)`, { cause }))
    })
  })
}

function errorOf({ code, message }: { code: string; message: string }): OiError {
  return new OiError(code in errorTable ? (code as ErrorCode) : 'ERR_REMOTE', message)
}
