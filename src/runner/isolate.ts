/**
 * Opens an engine in a process of its own.
 *
 * @module
 */

import { checkedOptions, type EngineOptions, openNative } from '../engine/engine.js'
import { loadFailure } from '../engine/load-failure.js'
import { endOf, RunnerProcess } from './runner-process.js'
import { SupervisedEngine } from './supervised-engine.js'
import type { SupervisorEvents } from './supervision.js'

export interface IsolateOptions {
  readonly events?: SupervisorEvents
  /** Variables of the process besides those of this one. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * As `openEngine`, with the model in a process of its own: what ends that one, a failed check of
 * llama.cpp or a lack of memory, costs the calls that were inside a second try, and this process
 * nothing.
 *
 * @throws As `openEngine`: `ERR_MODEL_LOAD` also if the process ended while it loaded the model.
 */
export async function openIsolated(
  options: EngineOptions,
  { events, environment }: IsolateOptions = {},
): Promise<SupervisedEngine> {
  const native = checkedOptions(options)
  const onProgress = options.onProgress ?? (() => {})
  return SupervisedEngine.open(async (onEnd) => {
    const runner = new RunnerProcess({ native, onProgress, onEnd, environment })
    try {
      return { engine: await openNative(() => runner), pid: runner.pid }
    } catch (error) {
      const end = endOf(error)
      throw end === undefined ? error : loadFailure(options.modelPath, end.cause, end.lastWords)
    }
  }, events)
}
