/**
 * Opens an engine in a process of its own.
 *
 * @module
 */

import { checkedOptions, type EngineOptions, openNative } from '../engine/engine.js'
import { RunnerProcess } from './runner-process.js'
import { SupervisedEngine, type SupervisorEvents } from './supervised-engine.js'

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
 * @throws As `openEngine`, and {@link OiError} `ERR_ENGINE_INTERNAL` if the process ended while it
 *   loaded the model.
 */
export function openIsolated(
  options: EngineOptions,
  { events, environment }: IsolateOptions = {},
): Promise<SupervisedEngine> {
  const native = checkedOptions(options)
  const onProgress = options.onProgress ?? (() => {})
  return SupervisedEngine.open(async (onEnd) => {
    const runner = new RunnerProcess({ native, onProgress, onEnd, environment })
    return { engine: await openNative(runner), pid: runner.pid }
  }, events)
}
