#!/usr/bin/env node
/**
 * The `oi` command. The only place that ends the process.
 *
 * @module
 */

import { killedBy } from '../terminal/signals.js'

const exit = (code: number) => process.exit(code)

/** All other modules: Node opens hundreds of files at once for them. */
const modules = () =>
  Promise.all([
    import('./run.js'),
    import('../server/create-wire.js'),
    import('../opening/open-model.js'),
  ])

const [{ run }, { createWire }, { openModel, surveyModel }] = await modules().catch(
  (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EMFILE' && error.code !== 'ENFILE') throw error
    process.stderr.write(
      'oi: too many files are open: allow this process more of them (ulimit -n 1024)\n',
    )
    return exit(1)
  },
)

// Process 1 of a container ignores every signal without a listener.
if (process.pid === 1) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) exit(killedBy(signal))
    })
  }
}

const code = await run(process.argv, {
  openModel,
  surveyModel,
  createWire,
  environment: process.env,
  exit,
})
exit(code)
