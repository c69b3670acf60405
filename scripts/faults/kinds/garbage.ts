/**
 * Nonsense for a model's process: it must answer valid frames before it, and end with a protocol
 * error, never by a signal.
 *
 * @module
 */

import { pack } from '../../../src/engine/pack.js'
import type { PromptPart } from '../../../src/engine/types.js'
import {
  asks,
  countFrame,
  scoreFrame,
  signal,
  tokenizeFrame,
} from '../../../src/runner/messages.js'
import type { Random } from '../../../test/helpers/random.js'
import { RawRunner } from '../../../test/helpers/raw-runner.js'
import { ensureModel } from '../../make-model/ensure.js'
import type { Kind } from '../kind.js'

/** Spoilt frames for one process, unless it ends before. */
const frames = 200

export const garbage: Kind = {
  says: "sends nonsense to a model's process",
  prepare: async ({ random, tally }) => {
    const options = {
      modelPath: await ensureModel('fixture-small'),
      contextTokens: 4096,
      threads: 1,
    }
    return {
      strike: async () => {
        await using runner = new RawRunner()
        await runner.open(options)
        runner.send(countFrame(1, 'the first'))
        await runner.reply(1)
        for (let id = 2; id < frames; id++) runner.send(spoilt(random, id))
        // In case all of it was valid, or a part of a frame.
        runner.stream.end()
        const { code, signal, words } = await runner.ended
        if (signal === null && (code === 0 || code === 1)) return
        tally.violate(`a process that was sent nonsense ended with ${signal ?? code}: ${words}`)
      },
    }
  },
}

/** A frame with some other bytes, or another length; or bytes that never were a frame. */
function spoilt(random: Random, id: number): Buffer {
  const frame = Buffer.from(random.pick(makers)(id))
  const way = random.next()
  if (way < 0.5) return frame // right
  if (way < 0.8) {
    for (let i = random.integer(3); i >= 0; i--) {
      // Mostly after the head: a stream with wrong heads ends at once.
      const from = random.next() < 0.1 ? 0 : 12
      if (frame.length > from)
        frame[from + random.integer(frame.length - from)] = random.integer(256)
    }
    return frame
  }
  if (way < 0.9) return frame.subarray(0, random.integer(frame.length))
  return Buffer.from(Array.from({ length: 1 + random.integer(64) }, () => random.integer(256)))
}

const user = (text: string): PromptPart => ({ text, trusted: false })
const input = {
  prefix: [user('a state of a few words')],
  suffixes: [{ parts: [user(' Is it?')], candidates: Int32Array.of(32, 33) }],
}
const makers: readonly ((id: number) => Buffer)[] = [
  (id) => scoreFrame(id, { ...pack(input), workspace: 1, scope: '', deadlineMs: 1000 }),
  (id) => tokenizeFrame(id, ['one', 'two é🙂'], Uint8Array.of(0, 1)),
  (id) => countFrame(id, 'words and words'),
  (id) => signal(asks.cancel, id - 1),
  (id) => signal(asks.ping, id),
]
