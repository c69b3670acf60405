/**
 * The border between TypeScript and the addon: each side reads what the other writes.
 *
 * Needs the built addon, a fixture and its projector.
 */
import t from 'tap'
import { checkedOptions } from '../../src/engine/engine.js'
import { loadAddon, type NativeFacts } from '../../src/engine/native.js'
import { pack, type ScoreAsk } from '../../src/engine/pack.js'
import { statNames } from '../../src/engine/stats.js'
import type { ScoreOutput } from '../../src/engine/types.js'
import { fixturePath, picture, projectorPath, question, user } from '../helpers/fixture.js'

const { NativeEngine } = loadAddon()
const options = await checkedOptions({
  modelPath: await fixturePath('dense'),
  projectorPath: await projectorPath(),
  contextTokens: 1024,
  threads: 1,
})
/** The names that the addon read from the object of options. */
const optionsRead = new Set<string>()
const engine = new NativeEngine(recorded(options, optionsRead), () => {})
const facts = await engine.open()
t.teardown(() => engine.close())

const ask: ScoreAsk = {
  ...pack({
    prefix: [user('a state'), picture(1)],
    suffixes: [question(3)],
  }),
  workspace: 0,
  scope: '',
  deadlineMs: Infinity,
}

t.test('the addon reads every option, and no other', async (t) => {
  t.strictSame([...optionsRead].sort(), Object.keys(options).sort())
})

t.test('the addon reads every member of a request, and no other', async (t) => {
  const read = new Set<string>()
  await engine.score(1, recorded(ask, read))
  t.strictSame([...read].sort(), Object.keys(ask).sort())
})

t.test('an answer has the members of its type', async (t) => {
  const { logits, ranks, ...numbers } = await engine.score(1, ask)
  t.ok(logits instanceof Float32Array && logits.length === ask.candidates.length + 1)
  t.ok(ranks instanceof Int32Array && ranks.length === 1)
  const names = {
    ...{ prefixTokens: 0, imageTokens: 0, suffixTokens: 0, cachedTokens: 0, evaluatedTokens: 0 },
    ...{ queueMs: 0, tokenizeMs: 0, visionMs: 0, modelMs: 0 },
  } satisfies Record<Exclude<keyof ScoreOutput, 'logits' | 'ranks'>, number>
  t.strictSame(Object.keys(numbers), Object.keys(names))
  t.ok(Object.values(numbers).every(Number.isFinite))
})

t.test('facts have the members of their type', async (t) => {
  const kinds = {
    ...{ architecture: 'string', description: 'string', device: 'string', kernels: 'string' },
    ...{ chatTemplate: 'string', chatTemplates: 'object', bosToken: 'string', eosToken: 'string' },
    ...{ placement: 'object', notes: 'object', metadata: 'object', ordinary: 'object' },
    ...{ parameters: 'number', weightBytes: 'number', contextBytes: 'number' },
    ...{ vocabularySize: 'number', trainedContextTokens: 'number', contextTokens: 'number' },
    ...{
      maxStateTokens: 'number',
      maxForks: 'number',
      threads: 'number',
      stepTokens: 'number',
      hostCacheBytes: 'number',
    },
    ...{ recurrent: 'boolean', hybrid: 'boolean', vision: 'boolean', sameBits: 'boolean' },
  } satisfies Record<keyof NativeFacts, string>
  const found = Object.entries(facts).map(([name, value]) => [name, typeof value])
  t.strictSame(Object.fromEntries(found.sort()), Object.fromEntries(Object.entries(kinds).sort()))
})

t.test('counters have their names, in the order in which they are sent', async (t) => {
  t.strictSame(Object.keys(engine.stats()), statNames)
})

t.test('a member of another type or length is refused by name', async (t) => {
  const wrong: readonly (readonly [Record<string, unknown>, RegExp])[] = [
    // Its bytes would be read four at a time, beyond its end.
    [{ candidates: Uint8Array.from(ask.candidates) }, /candidates: expected an Int32Array/],
    [{ shape: [...ask.shape] }, /shape: expected an Int32Array/],
    [{ sizes: new Float32Array(2) }, /sizes: expected an Int32Array/],
    [{ kinds: undefined }, /kinds: expected a Uint8Array/],
    [{ images: [new Int32Array(ask.images[0]!.length)] }, /images: expected a Uint8Array/],
    [{ images: undefined }, /images: expected an array/],
    [{ texts: 'text' }, /texts: expected an array/],
    [{ kinds: ask.kinds.subarray(1) }, /texts and kinds differ in length/],
    [{ images: [] }, /images do not fit/],
    [{ sizes: Int32Array.of(112, 85) }, /images do not fit/],
    [{ shape: Int32Array.of(2, 1) }, /shape does not fit/],
    [{ candidates: Int32Array.of(1) }, /shape does not fit/],
    [{ texts: ask.texts.map(() => 1) }, /string/i],
    [{ workspace: 'a' }, /number/i],
    [{ deadlineMs: undefined }, /number/i],
  ]
  for (const [member, message] of wrong) {
    const request: ScoreAsk = { ...ask, ...member }
    t.throws(() => engine.score(2, request), { message }, Object.keys(member).join())
  }
  t.equal(engine.stats().queuedRequests, 0)
})

/** The object; it records the names that are read from it. */
function recorded<T extends object>(object: T, names: Set<string>): T {
  return new Proxy(object, {
    get(target, name) {
      names.add(String(name))
      return Reflect.get(target, name) as unknown
    },
  })
}
