/**
 * The front's side of a runner that breaks the protocol, or does not read.
 *
 * Needs the built addon.
 */
import t from 'tap'
import { fileURLToPath } from 'node:url'
import type { NativeOptions } from '../../src/engine/native.js'
import { pack } from '../../src/engine/pack.js'
import { mostWaiting } from '../../src/runner/outbox.js'
import { RunnerProcess } from '../../src/runner/runner-process.js'
import { input } from '../helpers/fixture.js'

const entry = fileURLToPath(new URL('../fixtures/fake-runner.js', import.meta.url))
const asked = mostWaiting + 10
const causes: string[] = []

async function withFake(fake: string, use: (runner: RunnerProcess) => Promise<void>) {
  causes.length = 0
  const runner = new RunnerProcess({
    native: {} as NativeOptions,
    onProgress: () => {},
    onEnd: ({ cause }) => causes.push(cause),
    onWords: (text) => process.stderr.write(text),
    environment: { FAKE: fake },
    entry,
  })
  try {
    await runner.open()
    await use(runner)
  } finally {
    runner.kill('the test is over')
    await runner.close()
  }
}

for (const fake of ['garbage', 'a kind of asks', 'too long', 'too short', 'no text']) {
  t.test(`a runner with nonsensical answers is ended: ${fake}`, (t) =>
    withFake(fake, async (runner) => {
      const error = await runner.count(1, 'a').catch((error: unknown) => error)
      t.match(error, { end: { cause: 'protocol' } })
      t.strictSame(causes, ['protocol'])
      await t.rejects(runner.count(2, 'a'), /protocol/, 'and asked no more')
    }),
  )
}

t.test('replies may come in any pieces, and unexpected ones are ignored', (t) =>
  withFake('pieces', async (runner) => {
    const error = { code: 'ERR_TIMEOUT', message: 'é🙂', retryAfterMs: 7 }
    await t.rejects(runner.count(1, 'a'), error)
    await t.rejects(runner.count(2, 'a'), error)
  }),
)

t.test('a runner that does not read costs no memory, and delays no caller for long', (t) =>
  withFake('deaf', async (runner) => {
    const { texts, ...rest } = pack(input(20, 1))
    const large = 'word '.repeat(200_000)
    const before = process.memoryUsage().arrayBuffers
    const outcomes: (string | undefined)[] = []
    const ask = (id: number) => {
      const [workspace, scope, deadlineMs] = [0, '', Infinity]
      const request = { texts: [large, ...texts.slice(1)], ...rest, workspace, scope, deadlineMs }
      const one = runner.score(id, request)
      return one.catch((error: Error & { code?: string; end?: { cause: string } }) => {
        outcomes[id] = error.code ?? error.end?.cause
      })
    }
    const all = Array.from({ length: asked }, (_, i) => ask(i + 1))
    t.ok(process.memoryUsage().arrayBuffers - before < 4 * large.length, 'few frames are made')
    runner.cancel(2) // it waits
    await Promise.all(all.slice(1, 2))
    t.equal(outcomes[2], 'ERR_ABORTED')
    runner.kill('hung')
    await Promise.all(all)
    // One frame was being written, and as many as allowed waited.
    t.strictSame(outcomes.slice(1), [
      ...['hung', 'ERR_ABORTED', ...Array<string>(mostWaiting - 1).fill('hung')],
      ...Array<string>(asked - 1 - mostWaiting).fill('ERR_OVERLOADED'),
    ])
  }),
)
