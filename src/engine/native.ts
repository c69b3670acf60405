/**
 * Finds the addon and gives it types. The only module that loads native code.
 *
 * Looked for in this order: the path in `OI_ADDON`, which stands for itself; what was compiled here;
 * the package of this platform. A failure lists each place with its error, and the remedy.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { OiError } from '../errors.js'
import { packageRoot, packageVersion } from '../package-root.js'
import type { ScoreAsk } from './pack.js'
import { missingTools } from './toolchain.js'
import type { EngineStats, ModelInfo, ScoreOutput } from './types.js'

/** Complete: nothing is left to the addon. 0 means "choose". */
export interface NativeOptions {
  modelPath: string
  /** '' for none. */
  projectorPath: string
  contextTokens: number
  maxForks: number
  batchTokens: number
  microbatchTokens: number
  threads: number
  /** '' for all that there are. */
  device: string
  split: 'layer' | 'row'
  /** Empty: by the GPUs' free memory. */
  tensorSplit: readonly number[]
  /** Below 0: as many as fit. */
  gpuLayers: number
  /** Below 0: as many as the GPUs have no room for. */
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

/** The addon's class. Methods reject with errors that carry a `code` of src/errors.ts. */
export interface NativeEngine {
  open(): Promise<NativeFacts>
  /**
   * @param id - Names the call in `cancel()`: an integer from 0 to 2^32 - 1, of no other call under
   *   way.
   * @throws TypeError that names what does not fit: an array of another type or length.
   */
  score(id: number, ask: ScoreAsk): Promise<ScoreOutput>
  /** @param kinds - Of each text, as in {@link ScoreAsk}: 0 or 1. */
  tokenize(id: number, texts: string[], kinds: Uint8Array): Promise<Int32Array[]>
  count(id: number, text: string): Promise<number>
  /** Undefined if the text is too long to be counted on this thread. */
  countNow(text: string): number | undefined
  cancel(id: number): void
  stats(): EngineStats
  close(): Promise<void>
}

/** In a process of its own, for a front in another one. */
export interface ServingEngine extends NativeEngine {
  /**
   * Answers what comes on a socket, see src/runner/PROTOCOL.md, from now on: pings, and how far
   * loading is, also before `open()`. Called once.
   *
   * @param fatal - A request with this text in it ends the process, for tests; '' for none.
   * @param leastStepMs - How long a step may take, whatever was expected, before it counts as
   *   hanging: then pings have no answer.
   * @returns When the stream has ended. Rejects if what came broke the protocol.
   */
  serve(fd: number, fatal: string, leastStepMs: number): Promise<void>
  /** Writes a frame to whoever is served. */
  send(frame: Uint8Array): void
}

/** What a gate asks whoever owns it, from the event loop. A connection is named by a number. */
export interface GateOwner {
  /** @returns False if the connection is not taken, since a reply is still to be written. */
  takeOver(connection: number, fd: number, bytes: Buffer): boolean
  /** The client sends no more. @returns True if the connection has to stay for a reply. */
  halfClosed(connection: number): boolean
  /** A connection that stayed has been closed. */
  closed(connection: number): void
}

/** Stands before uWebSockets.js on its sockets, see native/transport/gate.h. */
export interface NativeGate {
  /**
   * @param options - The port that uWebSockets.js listens on and the path of its binary; how long
   *   an idle connection is kept, and what one is sent that comes when descriptors run out.
   * @returns False where the library's binary is not as expected.
   */
  attach(options: { port: number; binary: string; idleSeconds: number; refusal: string }): boolean
  /** The connection whose request uWebSockets.js is being given. */
  current(): number
  /** Whether any client has not taken all that the system has for it. */
  sending(): boolean
  probe(connection: number): void
  isThere(connection: number): boolean
  closeIfSent(connection: number): void
  /** Only when all sockets are closed. */
  dispose(): void
}

export interface NativeAddon {
  readonly NativeGate: new (owner: GateOwner) => NativeGate
  readonly NativeEngine: new (
    options: NativeOptions,
    onProgress: (fraction: number) => void,
  ) => ServingEngine
  /** The machine as this process may use it; `root` stands for `/`. */
  machine(root: string): { readonly cores: number; readonly availableBytes?: number }
  /**
   * Sends one datagram to a Unix domain socket, which Node cannot, and never waits.
   *
   * @param path - A file's, or `@` and the name of an abstract socket.
   * @returns 0, or the system's number of the error.
   */
  sendDatagram(path: string, text: string): number
  /** File descriptors of two sockets that are connected; nothing that is started inherits them. */
  socketPair(): [number, number]
  /** The llama.cpp commit that was built in. */
  readonly llamaCommit: string
  /**
   * Why this build lacks our CPU kernels though its architecture could have them: the private
   * headers of ggml that are not those which they were written for, with commas between; else ''.
   */
  readonly changedHeaders: string
}

const require = createRequire(import.meta.url)
let loaded: NativeAddon | undefined

/**
 * @throws {@link OiError} `ERR_ADDON_NOT_FOUND` with what was tried and the remedy.
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

/** @param disabled - Whether this process loads no addon at all. */
function remedy(disabled: boolean): string {
  if (disabled)
    return 'Start Node without --no-addons, and beside --permission with --allow-addons.'
  if (process.env['OI_ADDON']) return 'Name one in OI_ADDON that was compiled for this machine.'
  const command = isCheckout ? 'npm run build' : 'npx oi build'
  // What is there is up to date, but not for this machine.
  const clean = existsSync(own) ? ` ${isCheckout ? '-- ' : ''}--clean` : ''
  const missing = missingTools()
  const needs = missing && `\nFor that, install ${missing.names}: ${missing.install}`
  return `Compile it here: ${command}${clean}${needs ?? ''}`
}

/** Of a package, the sources of TypeScript are no part. */
const isCheckout = existsSync(join(packageRoot, 'tsconfig.json'))

/** What was compiled here. */
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
  return require(path) as NativeAddon
}

/**
 * Asked before the addon is loaded: on a processor that lacks what its constructors use, loading it
 * would end the process. What was compiled for every processor of its kind has no such file.
 */
function lackingInstructions(addon: string): readonly string[] {
  const path = join(dirname(addon), 'processor.node')
  return existsSync(path) ? (require(path) as readonly string[]) : []
}

/** Of another version, it has another interface. */
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
