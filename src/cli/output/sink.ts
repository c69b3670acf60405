/**
 * Where standard output and standard error lead, written to without holding the event loop.
 *
 * What Node does by itself differs with what is there. A write to a file holds the event loop,
 * throws where the disk is full, and drops in silence what the disk had no room for; one to a
 * terminal that is halted (Ctrl-S) or that nobody reads holds it for ever; one to a pipe that
 * nobody reads is kept in memory.
 *
 * @module
 */

import { fstatSync, write } from 'node:fs'
import { isatty } from 'node:tty'

export interface Sink {
  /**
   * Writes all of the bytes. The next ones are given when these are done.
   *
   * @param done - Called later, once, with what went wrong, and how many bytes had been written
   *   before it, as far as that is known.
   */
  write(bytes: Uint8Array, done: (error: Error | null, written: number) => void): void
}

export type StandardStream = 1 | 2

/** @param fd - 1 standard output, 2 standard error. */
export function sinkOf(fd: StandardStream): Sink {
  const isStream = isatty(fd) || fstatSync(fd).isFIFO() || fstatSync(fd).isSocket()
  return isStream ? streamSink(fd === 1 ? process.stdout : process.stderr) : fileSink(fd)
}

/** Pipes, sockets and terminals: the event loop is told when they take more. */
function streamSink(stream: NodeJS.WriteStream): Sink {
  // A terminal is the one of them that Node writes to in blocking mode. Its handle is a file
  // description of its own, so that nobody else's writes change.
  if (stream.isTTY) (stream as NodeJS.WriteStream & TerminalStream)._handle?.setBlocking?.(false)
  // Each write tells its own error; without a listener it would end the process as well.
  stream.on('error', () => {})
  return {
    write: (bytes, done) => {
      stream.write(bytes, (error) => done(error ?? null, error ? 0 : bytes.length))
    },
  }
}

interface TerminalStream {
  readonly _handle?: { setBlocking?: (blocking: boolean) => void }
}

/** Files and devices: one write at a time, which waits on a thread of the pool. */
function fileSink(fd: number): Sink {
  return {
    write: (bytes, done) => {
      const writeFrom = (start: number) =>
        write(fd, bytes, start, bytes.length - start, null, (error, written) => {
          // A disk that is nearly full takes a part; the rest then says why.
          const end = start + (written ?? 0)
          if (error || end === bytes.length) done(error, end)
          else writeFrom(end)
        })
      writeFrom(0)
    },
  }
}
