/**
 * Progress of loading: a bar on a terminal, a few plain lines elsewhere.
 *
 * @module
 */

import { SingleBar } from 'cli-progress'
import { printError } from './print.js'

export interface Progress {
  /**
   * @param fraction - 0 to 1, never falling.
   * @param note - A few words behind the bar of a terminal.
   */
  update(fraction: number, note?: string): void
  /** Ends the line. Idempotent. */
  stop(): void
}

const lineStep = 0.25

/** @param write - Takes whole lines, if standard error is no terminal. */
export function createProgress(label: string, write: (line: string) => void): Progress {
  const { stderr } = process
  return stderr.isTTY ? terminalBar(label, stderr) : plainLines(label, write)
}

/** Runs a piece of work with its bar on a terminal, and nothing elsewhere. */
export async function withProgress<T>(
  label: string,
  work: (show: (fraction: number, note?: string) => void) => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return work(() => {})
  const progress = createProgress(label, printError)
  try {
    return await work((fraction, note) => progress.update(fraction, note))
  } finally {
    progress.stop()
  }
}

function terminalBar(label: string, stream: NodeJS.WriteStream): Progress {
  const bar = new SingleBar({
    stream,
    format: `${label} {bar} {percentage} %{note}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    // Terminal modes stay unchanged: a signal while loading ends the process without stop().
    linewrap: true,
    gracefulExit: false,
  })
  bar.start(1, 0, { note: '' })
  return {
    update: (fraction, note = '') => bar.update(fraction, { note: note && `, ${note}` }),
    stop: () => bar.stop(),
  }
}

function plainLines(label: string, write: (line: string) => void): Progress {
  let next = 0
  return {
    update: (fraction) => {
      if (fraction < next) return
      write(`${label}: ${Math.floor(fraction * 100)} %\n`)
      next = (Math.floor(fraction / lineStep) + 1) * lineStep
    },
    stop: () => {},
  }
}
