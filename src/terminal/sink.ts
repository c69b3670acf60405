/**
 * Writes to standard output and standard error without blocking the event loop.
 *
 * Node's own behaviour depends on the target. A write to a file blocks the event loop, throws if
 * the disk is full, and silently drops the bytes that did not fit; a write to a terminal that is
 * halted (Ctrl-S) or has no reader blocks forever; a write to a pipe without a reader is kept in
 * memory.
 *
 * @module
 */

import { fstatSync, write } from 'node:fs'
import { isatty } from 'node:tty'

export interface Sink {
  /**
   * Writes all of the bytes. Call it again only when they are done.
   *
   * @param done - Called later, once, with the error and, as far as known, the number of bytes
   *   written before it.
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
  // Node writes to terminals in blocking mode. The handle is a file description of its own, so
  // other processes' writes do not change.
  if (stream.isTTY) (stream as NodeJS.WriteStream & TerminalStream)._handle?.setBlocking?.(false)
  // Each write reports its own error; without a listener it would also end the process.
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
          // A nearly full disk takes a part; the next write then fails with the reason.
          const end = start + (written ?? 0)
          if (error || end === bytes.length) done(error, end)
          else writeFrom(end)
        })
      writeFrom(0)
    },
  }
}
