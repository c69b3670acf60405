/**
 * A model is loaded in a separate process first, which may die: some files make llama.cpp abort, a
 * few of them only when the model is asked.
 *
 * @module
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { loadFailure } from '../engine/load-failure.js'
import { type ErrorCode, OiError } from '../errors.js'
import { defaultModelPath } from './default-model.js'
import type { ProbeReply, ProbeRequest, ProbeStage } from './probe-protocol.js'
import { probeKey, recall, remember } from './probe-memory.js'

const entry = fileURLToPath(new URL('./probe-main.js', import.meta.url))
type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** How much of a process's last output is kept. */
const maxWordsBytes = 64 << 10

/** Models that this process has tried, in case the cache folder cannot be written. */
const known = new Set<string>()

/**
 * Makes sure that a model can be loaded and asked (with an image if it has a projector) without
 * ending the process.
 *
 * @throws {@link OiError} `ERR_MODEL_LOAD` with llama.cpp's last output; the errors of opening the
 *   model.
 */
export function requireLoadable(request: ProbeRequest): Promise<void> {
  return tryOnce(request, async () => {
    const probe = new Probe()
    try {
      return (await probe.load(request)).loaded
    } catch (error) {
      // If no process can be started, the model is loaded without a probe.
      if (error instanceof OiError) throw error
      return false
    } finally {
      probe.close()
    }
  })
}

/**
 * Tries a model unless it is known to work. Successes are remembered by the file's header, size and
 * time, so that the next start costs nothing. The model of this package is known to work.
 *
 * @param attempt - Resolves to whether it worked; false also if it could not be tried.
 * @throws As `attempt`.
 */
export async function tryOnce(
  request: ProbeRequest,
  attempt: () => Promise<boolean>,
): Promise<void> {
  if (request.modelPath === defaultModelPath && !request.projectorPath) return
  const key = await probeKey(request)
  if (key !== undefined && (known.has(key) || (await recall(key)))) return
  if (!(await attempt()) || key === undefined) return
  known.add(key)
  await remember(key, request.modelPath)
}

/** A process that loads models one after another; started anew after a model has ended it. */
export class Probe {
  #child: Child | undefined

  /** One at a time. @throws As {@link requireLoadable}. */
  async load(request: ProbeRequest): Promise<ProbeReply> {
    const child = (this.#child ??= this.#start())
    let stage = 'starting'
    let words = ''
    const listen = (bytes: Buffer) => (words = (words + bytes.toString()).slice(-maxWordsBytes))
    child.stderr.on('data', listen)
    const lines = createInterface({ input: child.stdout })
    const { promise, resolve, reject } = withResolvers<ProbeReply>()
    const onClose = (code: number | null, signal: string | null) =>
      reject(ended(request, stage, signal ?? `exit code ${code}`, words))
    child.once('error', reject).once('close', onClose)
    lines.on('line', (line) => {
      if (!line.startsWith('{')) return
      const message = JSON.parse(line) as ProbeStage | ProbeReply
      if ('stage' in message) stage = message.stage
      else if (message.error === undefined) resolve(message)
      else reject(new OiError(message.error.code as ErrorCode, message.error.message))
    })
    child.stdin.write(`${JSON.stringify(request)}\n`)
    try {
      return await promise
    } finally {
      lines.close()
      child.stderr.off('data', listen)
      child.off('error', reject).off('close', onClose)
    }
  }

  #start(): Child {
    const child = spawn(process.execPath, [entry], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // ggml's backtrace starts a debugger.
      env: { ...process.env, GGML_NO_BACKTRACE: '1' },
    })
    const forget = () => {
      if (this.#child === child) this.#child = undefined
    }
    child.on('close', forget)
    child.on('error', forget)
    // A process that no longer reads has ended, and load() learns of that.
    child.stdin.on('error', () => {})
    return child
  }

  /** Ends the process, if there is one. */
  close(): void {
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }
}

function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: Error) => void
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}

function ended(request: ProbeRequest, stage: string, how: string, words: string): OiError {
  const { modelPath, projectorPath } = request
  const files = projectorPath ? `${modelPath} with ${projectorPath}` : modelPath
  return loadFailure(files, `${stage}; ${how}`, words)
}
