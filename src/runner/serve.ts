/**
 * The runner's side: opens the engine that the first frame asks for, and has the addon answer the
 * others (native/frames/frame_server.h).
 *
 * Rules
 *   1. It holds one engine and nothing of HTTP, prompts or accounts.
 *   2. It lives no longer than its connection: a front that is gone has no use for it.
 *
 * @module
 */

import { readSync, writeSync } from 'node:fs'
import { loadAddon, type ServingEngine } from '../engine/native.js'
import { FrameReader, headBytes, payloadBytesOf, ProtocolError } from './frames.js'
import {
  asks,
  failedFrame,
  type OpenAsk,
  openedFrame,
  protocolVersion,
  readJson,
} from './messages.js'

/**
 * Serves one connection, until it ends.
 *
 * @param fatal - For tests: a request with this text in it ends the process.
 * @throws If the front breaks the protocol.
 */
export async function serve(fd: number, fatal: string): Promise<void> {
  const { version, options } = readOpen(fd)
  if (version !== protocolVersion) {
    throw new ProtocolError(`The front speaks version ${version}, this one ${protocolVersion}`)
  }
  let engine: ServingEngine
  try {
    engine = new (loadAddon().NativeEngine)(options, () => {})
  } catch (error) {
    writeSync(fd, failedFrame(0, error))
    return
  }
  const served = engine.serve(fd, fatal)
  engine.open().then(
    (facts) => engine.send(openedFrame(0, facts)),
    (error: unknown) => engine.send(failedFrame(0, error)),
  )
  await served
}

/** The first frame, and not a byte beyond it. */
function readOpen(fd: number): OpenAsk {
  let open: unknown
  const frames = new FrameReader([asks.open], ({ payload }) => {
    open = readJson(payload)
  })
  const head = readExactly(fd, headBytes)
  frames.push(head)
  frames.push(readExactly(fd, payloadBytesOf(head)))
  return open as OpenAsk
}

function readExactly(fd: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes)
  for (let at = 0; at < bytes;) {
    const count = readSync(fd, buffer, at, bytes - at, null)
    if (count === 0) throw new ProtocolError('The front is gone')
    at += count
  }
  return buffer
}
