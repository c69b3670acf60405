/**
 * Opens an engine in a process of its own.
 *
 * @module
 */

import { checkedOptions, type EngineOptions, openNative } from '../engine/engine.js'
import { loadFailure } from '../engine/load-failure.js'
import type { Engine } from '../engine/types.js'
import { endOf, RunnerProcess } from './runner-process.js'
import { SupervisedEngine } from './supervised-engine.js'
import type { SupervisorEvents } from './supervision.js'

export interface IsolateOptions {
  readonly events?: SupervisorEvents
  /** Variables of the process besides those of this one. */
  readonly environment?: Readonly<Record<string, string>>
  /**
   * What the first engine has to do before it counts as open.
   *
   * @param say - Takes what it is at, for what is said if the process ends.
   */
  readonly tryOut?: (engine: Engine, say: (stage: string) => void) => Promise<void>
}

/**
 * As `openEngine`, with the model in a process of its own: what ends that one, a failed check of
 * llama.cpp or a lack of memory, costs the calls that were inside a second try, and this process
 * nothing.
 *
 * @throws As `openEngine`: `ERR_MODEL_LOAD` also if the process ended while it loaded the model, or
 *   was tried out; and what `tryOut` throws.
 */
export async function openIsolated(
  options: EngineOptions,
  { events = {}, environment, tryOut }: IsolateOptions = {},
): Promise<SupervisedEngine> {
  let native = checkedOptions(options)
  const { modelPath, projectorPath } = options
  const onWords = events.said ?? showWords
  let isFirst = true
  return SupervisedEngine.open(async (onEnd, signal) => {
    const onProgress = (isFirst && options.onProgress) || (() => {})
    const runner = new RunnerProcess({ native, onProgress, onEnd, onWords, environment })
    const abandon = () => runner.kill('closed')
    signal.addEventListener('abort', abandon)
    let stage = 'loading it'
    try {
      const engine = await openNative(() => runner)
      if (isFirst) await tryOut?.(engine, (next) => (stage = next))
      isFirst = false
      // Which of them answers is not for the caller to see: memory may be short later.
      native = { ...native, contextTokens: engine.info.contextTokens }
      return { engine, pid: runner.pid }
    } catch (error) {
      await runner.close()
      const end = endOf(error)
      if (end === undefined) throw error
      const files = projectorPath ? `${modelPath} with ${projectorPath}` : modelPath
      throw loadFailure(files, `${stage}; ${end.cause}`, end.lastWords)
    } finally {
      signal.removeEventListener('abort', abandon)
    }
  }, events)
}

/** llama.cpp's log is there for whoever asks for it. */
function showWords(text: string): void {
  if (process.env['OI_NATIVE_LOG'] !== undefined) process.stderr.write(text)
}
