/**
 * The runner's side: opens the engine that the first frame asks for, and lets the addon answer all
 * later frames (native/frames/frame_server.h).
 *
 * Rules
 *   1. It holds one engine and knows nothing of HTTP, prompts or accounts.
 *   2. It ends with its connection.
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
 * @param fatal - For tests: a request that contains this text ends the process.
 * @param leastStepMs - After how long a step may count as hanging.
 * @throws If the front breaks the protocol.
 */
export async function serve(fd: number, fatal: string, leastStepMs: number): Promise<void> {
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
  const served = engine.serve(fd, fatal, leastStepMs)
  engine.open().then(
    (facts) => engine.send(openedFrame(0, facts)),
    (error: unknown) => engine.send(failedFrame(0, error)),
  )
  await served
}

/** Reads the first frame, and no byte beyond it. */
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
