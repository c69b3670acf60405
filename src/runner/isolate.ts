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

interface IsolateOptions {
  readonly events?: SupervisorEvents
  /** Variables of the process besides those of this one. */
  readonly environment?: Readonly<Record<string, string>>
  /**
   * Tries the first engine out before it counts as open.
   *
   * @param say - Called with the present stage, for the error if the process ends.
   */
  readonly tryOut?: (engine: Engine, say: (stage: string) => void) => Promise<void>
}

/**
 * As `openEngine`, with the model in a process of its own: if a failed assertion of llama.cpp or a
 * lack of memory ends that process, its running calls are retried, and this process goes on.
 *
 * @throws As `openEngine`: `ERR_MODEL_LOAD` also if the process ended while it loaded the model, or
 *   was tried out; and what `tryOut` throws.
 */
export async function openIsolated(
  options: EngineOptions,
  { events = {}, environment, tryOut }: IsolateOptions = {},
): Promise<SupervisedEngine> {
  let native = await checkedOptions(options)
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
      // A replacement must answer like the first process, though memory may be short later.
      native = { ...native, contextTokens: engine.info.contextTokens }
      return { engine, pid: runner.pid }
    } catch (error) {
      await runner.close()
      const end = endOf(error)
      // A process that never began has loaded nothing.
      if (end?.pid === undefined) throw error
      const files = projectorPath ? `${modelPath} with ${projectorPath}` : modelPath
      throw loadFailure(files, `${stage}; ${end.cause}`, end.lastWords)
    } finally {
      signal.removeEventListener('abort', abandon)
    }
  }, events)
}

/** Shows llama.cpp's log if `OI_NATIVE_LOG` asks for it. */
function showWords(text: string): void {
  if (process.env['OI_NATIVE_LOG'] !== undefined) process.stderr.write(text)
}
