/**
 * Loads models whose headers were mutated: in a process that may die first, and what that one has
 * loaded in this one, which must not.
 *
 * @module
 */

import { closeSync, copyFileSync, openSync, readFileSync, writeSync } from 'node:fs'
import { openEngine } from '../../src/engine/engine.js'
import { OiError } from '../../src/errors.js'
import { tryOut } from '../../src/models/try-out.js'
import { openIsolated } from '../../src/runner/isolate.js'
import { createRandom } from '../../test/helpers/random.js'
import { mutate, readSubject } from './mutate.js'

export interface FuzzOptions {
  readonly model: string
  /** A file to write to. */
  readonly scratch: string
  readonly seed: number
  readonly mutations: number
  /** No more are begun then, milliseconds. */
  readonly budgetMs: number
  /** Told before this process opens what a probe has loaded: its last words, if it ends here. */
  readonly onOpen?: (mutation: string) => void
}

interface FuzzResult {
  loaded: number
  /** By a sentence. */
  refused: number
  /** The probe's process ended. */
  aborted: number
  /** What the probe loaded, and this process could not. */
  readonly wrong: string[]
}

export async function fuzzModels(options: FuzzOptions): Promise<FuzzResult> {
  const { model, scratch, seed, mutations, budgetMs, onOpen } = options
  copyFileSync(model, scratch)
  const subject = await readSubject(model, readFileSync(model))
  const file = openSync(scratch, 'r+')
  const result: FuzzResult = { loaded: 0, refused: 0, aborted: 0, wrong: [] }
  const request = { modelPath: scratch, contextTokens: 512, threads: 1, maxForks: 2 }
  const end = performance.now() + budgetMs
  try {
    for (let i = 0; i < mutations && performance.now() < end; i++) {
      const header = Buffer.from(subject.header)
      const mutation = `seed ${seed + i}: ${mutate({ ...subject, header }, createRandom(seed + i))}`
      writeSync(file, header, 0, header.length, 0)
      try {
        const probe = await openIsolated(request, {
          tryOut: (engine, say) => tryOut(engine, scratch, say),
        })
        await probe.close()
      } catch (error) {
        if (!(error instanceof OiError)) throw error
        result[/aborted|killed/.test(error.message) ? 'aborted' : 'refused']++
        continue
      }
      result.loaded++
      onOpen?.(mutation)
      await openEngine(request).then(
        (engine) => engine.close(),
        (error: Error) => result.wrong.push(`${mutation}: ${error.message}`),
      )
    }
  } finally {
    closeSync(file)
  }
  return result
}
