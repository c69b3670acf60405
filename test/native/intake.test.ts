/**
 * Work before admission: texts are read to the limit of their tokens, workspaces take turns, and what
 * waits is bounded.
 *
 * Needs the built addon and the fixtures.
 */
import t from 'tap'
import type { Engine } from '../../src/engine/types.js'
import { OiError } from '../../src/errors.js'
import { defaultModelPath } from '../../src/models/default-model.js'
import { candidates, fixturePath, openEngine, user, withEngine } from '../helpers/fixture.js'

const megabytes = 1
const words = 'some words of a text '.repeat((megabytes << 20) / 21)
const word = 'abcdefghijklmnop'.repeat((megabytes << 20) / 16)

const short = { parts: [user('short?')], candidates }
const ask = (engine: Engine, state: string, workspace = 0, question = short) =>
  engine.score({ prefix: [user(state)], suffixes: [question] }, { workspace })

async function failureOf(pending: Promise<unknown>): Promise<OiError> {
  try {
    await pending
  } catch (error) {
    if (error instanceof OiError) return error
    throw error
  }
  throw new Error('It was answered')
}

for (const [name, state] of Object.entries({ words, word })) {
  t.test(`a state of ${megabytes} MB (${name}) is read to the limit and no further`, (t) =>
    withEngine('small', {}, async (engine) => {
      const tokens = (await engine.tokenize([user(state.slice(0, 200_000))]))[0]!.length
      const { code, message, suffix, spent } = await failureOf(ask(engine, state))
      t.equal(code, 'ERR_STATE_TOO_LONG')
      const limit = engine.info.contextTokens
      t.equal(message, `the state takes more than ${limit} tokens, the limit is ${limit}`)
      t.equal(suffix, undefined)
      const startMs = performance.now()
      await engine.tokenize([user(state)])
      const wholeMs = performance.now() - startMs
      t.ok(tokens > 2 * limit)
      t.ok(
        spent!.tokenize > 0 && spent!.tokenize < wholeMs / 5,
        `${spent!.tokenize} of ${wholeMs} ms`,
      )

      const long = { parts: [user(state)], candidates }
      const other = await failureOf(ask(engine, 'short', 0, long))
      t.match(other, { code: 'ERR_STATE_TOO_LONG', suffix: 0, message: /^the question takes more/ })
    }),
  )
}

t.test('a text that is a little too long is counted to its end', (t) =>
  withEngine('small', {}, async (engine) => {
    const limit = engine.info.contextTokens
    const error = await failureOf(ask(engine, ' a'.repeat(limit)))
    t.match(error, {
      code: 'ERR_STATE_TOO_LONG',
      message: new RegExp(`take \\d+ tokens \\(${limit} and \\d+\\), the limit is ${limit}$`),
    })
  }),
)

// Read in pieces, and as one text: the tokens are the same.
for (const vocab of ['bert-bge', 'llama-spm', 'gpt-2', 'phi-3']) {
  t.test(`words have the same tokens in a long text (${vocab})`, async (t) => {
    const modelPath = await fixturePath('small', { vocab })
    const engine = await openEngine({ modelPath, metadataOnly: true })
    for (const unit of ['some words of a text ', '12 3 4567 89 ']) {
      const count = async (times: number) => await engine.countTokens(unit.repeat(times).trimEnd())
      const step = (await count(3)) - (await count(2))
      t.equal(await count(5000), (await count(2)) + 4998 * step, unit)
    }
    await engine.close()
  })
}

t.test('a long word takes WordPiece linear time', async (t) => {
  const engine = await openEngine({ modelPath: defaultModelPath, metadataOnly: true })
  const time = async (text: string) => {
    const start = process.cpuUsage()
    await engine.countTokens(text)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  await time(word.slice(0, 100_000))
  const [tenth, whole] = [await time(word.slice(0, 200_000)), await time(word.slice(0, 2_000_000))]
  t.ok(whole < 20 * tenth, `${whole} ms of 2 MB, ${tenth} ms of 200 kB`)
  await engine.close()
})

t.test('one workspace’s large texts do not keep another’s small request waiting', (t) =>
  withEngine('small', {}, async (engine) => {
    let done = 0
    const large = Array.from({ length: 8 }, () => engine.tokenize([user(words)]).then(() => done++))
    await ask(engine, 'small', 2)
    t.ok(done <= 3, `${done} of 8 large texts were before it`)
    await Promise.all(large)
  }),
)

t.test('texts that wait to be tokenized are bounded by their bytes', async (t) => {
  const engine = await openEngine({ modelPath: defaultModelPath, metadataOnly: true })
  // WordPiece passes over blanks.
  const blanks = ' '.repeat(8 << 20)
  const settled = await Promise.allSettled(
    Array.from({ length: 12 }, () => engine.tokenize([user(blanks)])),
  )
  const refused = settled.filter(({ status }) => status === 'rejected')
  t.ok(refused.length >= 1 && refused.length <= 4, `${refused.length} of 12 were refused`)
  for (const { reason } of refused as PromiseRejectedResult[]) {
    t.match(reason, { code: 'ERR_OVERLOADED', message: /bytes of text are waiting/ })
    t.ok((reason as OiError).retryAfterMs! > 0)
  }
  await engine.close()
})
