/**
 * Finds and types the addon. The only module that loads native code.
 *
 * Search order: the path in `OI_ADDON`, which excludes all others; the local build; this platform's
 * package. A failure lists each place with its error, and the remedy.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { OiError } from '../errors.js'
import { packageRoot, packageVersion } from '../package-root.js'
import type { ScoreAsk } from './pack.js'
import { statNames } from './stats.js'
import { missingTools } from './toolchain.js'
import type { EngineStats, EngineTimes, ModelInfo, ScoreOutput } from './types.js'

/** Complete options: the addon has no defaults of its own. 0 means "choose". */
export interface NativeOptions {
  modelPath: string
  /** '' for none. */
  projectorPath: string
  contextTokens: number
  maxForks: number
  batchTokens: number
  microbatchTokens: number
  threads: number
  /** '' for all devices. */
  device: string
  split: 'layer' | 'row'
  /** Empty: by the GPUs' free memory. */
  tensorSplit: readonly number[]
  /** Below 0: as many as fit. */
  gpuLayers: number
  /** Below 0: those that do not fit on the GPUs. */
  cpuExperts: number
  mmap: boolean
  mlock: boolean
  metadataOnly: boolean
  flashAttention: 'auto' | 'on' | 'off'
  cacheType: 'f16' | 'f32' | 'bf16'
  kernels: 'auto' | 'off'
  deterministic: boolean
  /** Below 0: chosen. */
  hostCacheBytes: number
  /** '' for none. */
  diskCacheDir: string
  diskCacheBytes: number
  maxQueued: number
  maxBacklogMs: number
  tokenizerThreads: number
}

/** Facts of an opened model; `ordinary` has one byte per token. */
export type NativeFacts = ModelInfo & { ordinary: Uint8Array }

/** What the addon's methods reject with. */
export interface NativeFailure extends Partial<EngineTimes> {
  /** Of src/errors.ts. */
  readonly code: string
  readonly message: string
  readonly retryAfterMs?: number
  /** The index of the question that it is about, in {@link ScoreAsk}. */
  readonly question?: number
}

/** The addon's class. Methods reject with errors that carry a `code` of src/errors.ts. */
export interface NativeEngine {
  open(): Promise<NativeFacts>
  /**
   * @param id - Names the call in `cancel()`: an integer from 0 to 2^32 - 1 that no running call
   *   has.
   * @throws TypeError naming an array of a wrong type or length.
   */
  score(id: number, ask: ScoreAsk): Promise<ScoreOutput>
  /** @param kinds - Of each text, as in {@link ScoreAsk}: 0 or 1. */
  tokenize(id: number, texts: string[], kinds: Uint8Array): Promise<Int32Array[]>
  count(id: number, text: string): Promise<number>
  /** Undefined if the text is too long to count on this thread. */
  countNow(text: string): number | undefined
  cancel(id: number): void
  stats(): EngineStats
  close(): Promise<void>
}

/** An engine in a process of its own that serves a front in another process. */
export interface ServingEngine extends NativeEngine {
  /**
   * Answers the frames of a socket (src/runner/PROTOCOL.md) from now on: pings and progress also
   * before `open()`. Called once.
   *
   * @param fatal - A request that contains this text ends the process, for tests; '' for none.
   * @param leastStepMs - The shortest time, whatever was expected, after which a step counts as
   *   hanging: then pings get no answer.
   * @returns When the stream has ended. Rejects if the peer broke the protocol.
   */
  serve(fd: number, fatal: string, leastStepMs: number): Promise<void>
  /** Writes a frame to the peer. */
  send(frame: Uint8Array): void
}

/** Calls of a filter to its owner, on the event loop. A number names a connection. */
interface FilterOwner {
  /**
   * @param late - Whether the head did not come in time.
   * @returns False if the connection is not taken, because a reply must still be written.
   */
  takeOver(connection: number, fd: number, bytes: Buffer, late: boolean): boolean
  /** The client sends no more. @returns True if the connection has to stay for a reply. */
  halfClosed(connection: number): boolean
  /**
   * A connection has been closed that stayed, or whose client may not have had all that was sent to
   * it (`lost`): it was reset, or had not acknowledged everything.
   */
  closed(connection: number, lost: boolean): void
}

/** Sits between the sockets and uWebSockets.js, see native/transport/header_filter.h. */
export interface NativeHeaderFilter {
  /**
   * @param options - The port that uWebSockets.js listens on and the path of its binary; how long
   *   an idle connection is kept; the reply to a connection that arrives when descriptors run out;
   *   by connection, 1 while a request is being answered, which the filter makes 2 if something
   *   waits for the answer: `resume()` must follow; and where the filter writes the connection whose
   *   request uWebSockets.js is receiving.
   * @returns False if the library's binary is not as expected.
   */
  attach(options: {
    port: number
    binary: string
    idleSeconds: number
    refusal: string
    answering: Uint8Array
    current: Int32Array
  }): boolean
  /** Whether the system still holds bytes for any client. */
  sending(): boolean
  probe(connection: number): void
  isThere(connection: number): boolean
  closeIfSent(connection: number): void
  /** Goes on with what waited for an answer. Not from a callback of uWebSockets.js; allowed always. */
  resume(connection: number): void
  /** Allowed only when all sockets are closed. */
  dispose(): void
}

interface NativeAddon {
  readonly NativeHeaderFilter: new (owner: FilterOwner) => NativeHeaderFilter
  readonly NativeEngine: new (
    options: NativeOptions,
    onProgress: (fraction: number) => void,
  ) => ServingEngine
  /** Cores and memory that this process may use; `root` stands for `/`. */
  machine(root: string): { readonly cores: number; readonly availableBytes?: number }
  /**
   * Sends one datagram to a Unix domain socket, which Node cannot; never blocks.
   *
   * @param path - A file, or `@` and the name of an abstract socket.
   * @returns 0, or the system's number of the error.
   */
  sendDatagram(path: string, text: string): number
  /** File descriptors of two connected sockets; child processes do not inherit them. */
  socketPair(): [number, number]
  /** The llama.cpp commit of this build. */
  readonly llamaCommit: string
  /**
   * Why this build lacks our CPU kernels on an architecture that has them: the private headers of
   * ggml that differ from those which the kernels were written for, with commas between; else ''.
   */
  readonly changedHeaders: string
  /** The names of its counters in their order, with commas between. */
  readonly statNames: string
}

const require = createRequire(import.meta.url)
let loaded: NativeAddon | undefined

/**
 * @throws {@link OiError} `ERR_ADDON_NOT_FOUND` with the places that were tried and the remedy.
 */
export function loadAddon(): NativeAddon {
  loaded ??= load()
  return loaded
}

function load(): NativeAddon {
  const failures: string[] = []
  let disabled = false
  for (const { name, load } of places()) {
    try {
      return load()
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      failures.push(`  ${name}: ${message.split('\n')[0]}`)
      disabled ||= code === 'ERR_DLOPEN_DISABLED'
    }
  }
  throw new OiError(
    'ERR_ADDON_NOT_FOUND',
    `The native addon could not be loaded.\n${failures.join('\n')}\n${remedy(disabled)}`,
  )
}

/** @param disabled - Whether this process may load no addons at all. */
function remedy(disabled: boolean): string {
  if (disabled)
    return 'Start Node without --no-addons, and beside --permission with --allow-addons.'
  if (process.env['OI_ADDON']) return 'Name one in OI_ADDON that was compiled for this machine.'
  const command = isCheckout ? 'npm run build' : 'npx oi build'
  // An existing build is up to date, but for another machine.
  const clean = existsSync(own) ? ` ${isCheckout ? '-- ' : ''}--clean` : ''
  const missing = missingTools()
  const needs = missing && `\nFor that, install ${missing.names}: ${missing.install}`
  return `Compile it here: ${command}${clean}${needs ?? ''}`
}

/** Packages do not contain tsconfig.json. */
const isCheckout = existsSync(join(packageRoot, 'tsconfig.json'))

/** The local build. */
const own = join(packageRoot, 'build', 'default', 'oi.node')

interface Place {
  readonly name: string
  readonly load: () => NativeAddon
}

function places(): Place[] {
  const explicit = process.env['OI_ADDON']
  if (explicit) {
    return [{ name: `OI_ADDON=${explicit}`, load: () => requireFile(resolve(explicit)) }]
  }
  const platform = `@oi-systemone/${process.platform}-${process.arch}`
  return [
    { name: `compiled here, ${own}`, load: () => requireFile(own) },
    { name: `package ${platform}`, load: () => requirePackage(platform) },
  ]
}

function requireFile(path: string): NativeAddon {
  if (!existsSync(path)) throw new Error('it is not there')
  const lacking = lackingInstructions(path)
  if (lacking.length > 0) {
    const names = lacking.join(', ')
    throw new Error(`it was compiled for another processor, and this one lacks ${names}`)
  }
  const addon = require(path) as NativeAddon
  // Its counters would be read as others.
  if (addon.statNames !== statNames.join()) throw new Error('it was compiled from other sources')
  return addon
}

/**
 * Checked before the addon is loaded: if the processor lacks an instruction that static
 * constructors use, loading would end the process. Portable builds have no such file.
 */
function lackingInstructions(addon: string): readonly string[] {
  const path = join(dirname(addon), 'processor.node')
  return existsSync(path) ? (require(path) as readonly string[]) : []
}

/** A package of another version has another interface. */
function requirePackage(name: string): NativeAddon {
  let version: string
  try {
    version = (require(`${name}/package.json`) as { version: string }).version
  } catch {
    throw new Error('it is not installed')
  }
  const expected = packageVersion()
  if (version !== expected) throw new Error(`it is of version ${version}, expected ${expected}`)
  return requireFile(require.resolve(name))
}
