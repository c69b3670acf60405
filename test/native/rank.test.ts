/**
 * `rank@1`: a reranker scores pairs of the state and a question with an option, as llama.cpp does.
 *
 * Needs the built addon and fixtures. Expected scores are llama.cpp's own, with its pooling of
 * rerankers and its server's prompt; bound 1e-3 relative in F32 on llama.cpp's kernels. Ours compute
 * a GELU in single precision, which llama.cpp looks up in half precision: 5e-3; likewise our heads of
 * modern-bert: 2e-3.
 */
import t from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine, PromptPart } from '../../src/engine/types.js'
import { type FixtureName, outcomeOf, text } from '../helpers/fixture.js'
import { mixedRequest, optionLogits, renderedBy, suffixLogits } from '../helpers/hidden.js'
import { type Changes, llamaPooled, marked, withPooled } from '../helpers/pooled.js'
import { relativeError } from '../helpers/reference.js'

/** The queries of {@link mixedRequest}. */
const queries = [
  'Which team should handle this? billing: invoices and payments',
  'Which team should handle this? support',
  'Which team should handle this? sales: new customers',
  'Is it urgent?',
  'How content is the writer? angry',
  'How content is the writer? neither',
  'How content is the writer? content',
  'How content is the writer? level 4 of 4',
  'Is money asked back? a refund is asked for',
]

const bertPair = (query: string, document: string) => marked('[CLS]', query, '[SEP]', document)

/** As llama.cpp's server has it: one text, tokenized as a whole. */
function qwenPair(query: string, document: string): PromptPart[] {
  const text =
    '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and ' +
    'the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>\n' +
    '<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that answer ' +
    `the query\n<Query>: ${query}\n<Document>: ${document}<|im_end|>\n` +
    '<|im_start|>assistant\n<think>\n\n</think>\n\n'
  return [{ text, trusted: true }]
}

const inner = ['cls.weight', 'cls.bias']
const kinds: [string, FixtureName, Changes, typeof bertPair, number][] = [
  ['a head of two layers', 'reranker', {}, bertPair, 1e-3],
  ['a head of one layer', 'reranker', { without: inner }, bertPair, 1e-3],
  [
    'a head without biases',
    'reranker',
    { without: ['cls.bias', 'cls.output.bias'] },
    bertPair,
    1e-3,
  ],
  ['the mean, GELU and a norm', 'modern-reranker', {}, bertPair, 2e-3],
  ['the mean, and no norm', 'modern-reranker', { without: ['cls.norm.weight'] }, bertPair, 2e-3],
  [
    'a first layer of one output, and no other',
    'reranker',
    {
      architecture: 'jina-bert-v2',
      without: ['position_embd.weight', 'cls.output.weight', 'cls.output.bias'],
      rows: { 'cls.weight': 1, 'cls.bias': 1 },
    },
    bertPair,
    1e-3,
  ],
  ['a decoder with a template', 'qwen3-reranker', {}, qwenPair, 1e-3],
  ['F16', 'reranker', { type: 'F16' }, bertPair, 1e-2],
  ['Q8_0', 'reranker', { type: 'Q8_0' }, bertPair, 5e-2],
  [
    'a name in the file and a template of its own',
    'reranker',
    {
      meta: {
        'oi.readout': 'rank@1',
        'bert.pooling_type': 4,
        'oi.rank.template': '[CLS]{document}[SEP]{query}[SEP]',
      },
    },
    (query, document) => marked('[CLS]', document, '[SEP]', query, '[SEP]'),
    1e-3,
  ],
]

for (const [name, fixture, changes, pair, bound] of kinds) {
  t.test(`scores are those of llama.cpp: ${name}`, async (t) => {
    const request = mixedRequest(40)
    const pairs = queries.map((query) => pair(query, request.state as string))
    for (const kernels of ['off', 'auto'] as const) {
      await withPooled(t.testdir(), fixture, changes, { kernels }, async (engine, path) => {
        const input = await renderedBy(engine, request)
        const actual = (await suffixLogits(engine, input)).flat()
        const expected = (await llamaPooled(path, engine, pairs)).map(([score]) => score!)
        // Behind a softmax over yes and no, llama.cpp's score is a probability.
        const scores =
          fixture === 'qwen3-reranker' ? actual.map((x) => 1 / (1 + Math.exp(-x))) : actual
        const error = relativeError(scores, expected)
        t.ok(error < (kernels === 'off' ? bound : Math.max(bound, 5e-3)), `${kernels}: ${error}`)
        const spread = Math.max(...expected) - Math.min(...expected)
        t.ok(spread > 0.02, `queries differ: ${spread}`)
      })
    }
  })
}

t.test('the prompt of a template has the tokens of llama.cpp’s server, blanks included', (t) =>
  withPooled(t.testdir(), 'qwen3-reranker', {}, {}, async (engine) => {
    for (const query of ['Is it urgent?', 'urgent', '  two blanks']) {
      for (const state of ['A document.', '1 2', ' \n blank']) {
        const questions: DecideRequest['questions'] = { q: { type: 'noul', instructions: query } }
        const { prefix, suffixes } = await renderedBy(engine, { state, questions })
        const ids = async (parts: readonly PromptPart[]) =>
          (await engine.tokenize(parts)).flatMap((part) => [...part])
        const own = [...(await ids(suffixes[0]!.parts)), ...(await ids(prefix))]
        t.same(own, await ids(qwenPair(query, state)), JSON.stringify([query, state]))
      }
    }
  }),
)

async function rounds(engine: Engine): Promise<number[][]> {
  const request = mixedRequest(60)
  const ask = async (asked: DecideRequest) => (await optionLogits(engine, asked)).flat()
  const alone = await ask(request)
  const others = [5, 22, 39, 90].map((words) => ask(mixedRequest(words)))
  const [beside, again] = await Promise.all([ask(request), ask(request), ...others])
  const [team, ...rest] = Object.entries(request.questions)
  if (team![1].type !== 'choice') throw new Error('a choice was expected')
  const criteria = Object.fromEntries(Object.entries(team![1].criteria).reverse())
  const turned = Object.fromEntries([[team![0], { ...team![1], criteria }], ...rest])
  const permuted = await ask({ ...request, questions: turned })
  return [alone, beside, again, [...permuted.slice(0, 3).reverse(), ...permuted.slice(3)]]
}

for (const fixture of ['reranker', 'qwen3-reranker'] as const) {
  for (const deterministic of [false, true]) {
    const bits = deterministic ? ', in every bit' : ''
    t.test(`${fixture}: scores do not depend on others, nor on the order of options${bits}`, (t) =>
      withPooled(t.testdir(), fixture, {}, { deterministic }, async (engine) => {
        const [alone, ...company] = await rounds(engine)
        for (const logits of company) {
          if (deterministic) t.strictSame(logits, alone)
          else t.ok(relativeError(logits, alone!) < 1e-3, `${relativeError(logits, alone!)}`)
        }
      }),
    )
  }
}

const choice = (options: readonly string[]): DecideRequest => ({
  state: 'the one that is meant',
  questions: {
    q: { type: 'choice', criteria: Object.fromEntries(options.map((name) => [name, null])) },
  },
})

t.test('255 options are scored in batches, and equal options share a pass', (t) =>
  withPooled(t.testdir(), 'reranker', {}, {}, async (engine, path) => {
    const names = Array.from({ length: 255 }, (_, i) => `${i} ${text(3)}`)
    const request = choice(names)
    const input = await renderedBy(engine, request)
    const actual = (await suffixLogits(engine, input)).flat()
    const pairs = names.map((name) => bertPair(name, request.state as string))
    const expected = (await llamaPooled(path, engine, pairs)).flat()
    t.equal(actual.length, 255)
    t.ok(relativeError(actual, expected) < 5e-3, `${relativeError(actual, expected)}`)
    const { steps, evaluatedTokens } = engine.stats()
    t.ok(steps < 60, `${steps} steps`)

    const questions = { a: request.questions['q']!, b: request.questions['q']! }
    const twice = await renderedBy(engine, { ...request, questions })
    const both = (await suffixLogits(engine, twice)).flat()
    t.ok(relativeError(both, [...actual, ...actual]) < 1e-3)
    t.equal(engine.stats().evaluatedTokens, 2 * evaluatedTokens, 'evaluated once')
  }),
)

t.test('the state is evaluated with every option, and counted once', (t) =>
  withPooled(t.testdir(), 'reranker', {}, {}, async (engine) => {
    const input = await renderedBy(engine, mixedRequest(50))
    const output = await engine.score(input)
    const counts = await Promise.all(
      [input.prefix, ...input.suffixes.map(({ parts }) => parts)].map(async (parts) =>
        (await engine.tokenize(parts)).reduce((sum, { length }) => sum + length, 0),
      ),
    )
    const [state, ...own] = counts
    const all = own.reduce((sum, count) => sum + count + state!, 0)
    t.equal(output.prefixTokens, state)
    t.ok(output.suffixTokens < all - own.length * state!)
    t.equal(output.evaluatedTokens, all)
    t.equal(engine.stats().evaluatedTokens, all)
    t.ok(engine.stats().steps < input.suffixes.length, 'several pairs in a batch')
  }),
)

t.test('a state over the limit is refused with the numbers', (t) =>
  withPooled(t.testdir(), 'reranker', {}, {}, async (engine) => {
    const ask = (words: number) => optionLogits(engine, mixedRequest(words))
    await t.rejects(ask(520), {
      code: 'ERR_STATE_TOO_LONG',
      message: /take \d{3} tokens \(the state \d{3}\), the limit is 512$/,
    })
    t.equal((await ask(440)).length, queries.length)
  }),
)

t.test('a cancelled or expired request ends, and others are answered', (t) =>
  withPooled(t.testdir(), 'reranker', {}, {}, async (engine) => {
    const names = Array.from({ length: 255 }, (_, i) => `${i} ${text(5)}`)
    const { questions } = choice(names)
    const input = await renderedBy(engine, { state: text(300), questions })
    const controller = new AbortController()
    const cancelled = outcomeOf(engine.score(input, { signal: controller.signal }))
    const late = outcomeOf(engine.score(input, { deadlineMs: 20 }))
    t.equal((await engine.score(await renderedBy(engine, mixedRequest(30)))).ranks.length, 9)
    controller.abort()
    t.equal(await cancelled, 'ERR_ABORTED')
    t.equal(await late, 'ERR_TIMEOUT')
    t.equal(engine.stats().queuedRequests, 0)
  }),
)
