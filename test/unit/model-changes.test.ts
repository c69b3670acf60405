/** Models loaded and unloaded while requests are under way; models without an engine. */
import t from 'tap'
import { modelConfig, type ModelConfig, readConfig } from '../../src/config.js'
import type { OpenedModel } from '../../src/opening/opened-model.js'
import { ModelChanges } from '../../src/server/models/model-changes.js'
import { ModelSlots } from '../../src/server/models/model-slots.js'
import type { Decision } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import { mebibyte } from '../../src/models/memory-plan.js'
import { decision, stubDecider } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const config = readConfig({})
const named = (name: string, more: Partial<ModelConfig> = {}): ModelConfig => ({
  ...modelConfig(config, `${name}.gguf`),
  ...{ name, default: false, hostCacheMb: 0, ...more },
})
/** Memory of each model, so large that this process' own makes no difference. Bytes. */
const each = 1e12
const request = { state: 1, questions: {} }

interface Opened {
  readonly asked: ModelConfig
  closed: boolean
  /** Ends its requests. */
  release(): void
}

interface Options {
  /** Memory for all models. */
  readonly availableBytes?: number
  /** Called before a model is opened. */
  readonly onOpen?: (name: string) => Promise<void> | void
  /** Called before a model gets other settings. */
  readonly onPrepare?: (name: string) => void
}

/** A server's models, and all that were opened. */
async function serving(names: readonly string[], options: Options = {}) {
  const opened: Opened[] = []
  const said: string[] = []
  const slots = new ModelSlots()
  const openModel = async ({ config: asked }: { config: ModelConfig }): Promise<OpenedModel> => {
    const name = asked.name!
    await options.onOpen?.(name)
    const waiting: (() => void)[] = []
    const { models } = stubDecider()
    const card = (own: ModelConfig) => ({
      ...models[0]!,
      ...{ name, aliases: own.aliases ?? [], default: own.default ?? true },
    })
    let current = card(asked)
    const entry: Opened = {
      asked,
      closed: false,
      release: () => waiting.splice(0).forEach((end) => end()),
    }
    opened.push(entry)
    return {
      decider: {
        get models() {
          return [current]
        },
        decide: ({ state }) =>
          new Promise<Decision>((resolve) => {
            const number = opened.indexOf(entry)
            const end = () => resolve({ ...decision, model: `${name} ${number}` })
            if (state === 'slow') waiting.push(end)
            else end()
          }),
        engines: () => [],
      },
      ...{ startLine: `Model ${name}`, warning: undefined, device: 'none' },
      prepare: async (own) => {
        options.onPrepare?.(name)
        return () => (current = card(own))
      },
      close: async () => {
        entry.closed = true
      },
    }
  }
  const changes = new ModelChanges({
    slots,
    openModel,
    surveyModel: async ({ name, hostCacheMb }) => ({
      ...{ model: name!, weightBytes: each, contextBytes: 0 },
      cacheBytes: hostCacheMb < 0 ? each : hostCacheMb * mebibyte,
      cacheYields: hostCacheMb < 0,
    }),
    say: (text) => said.push(text),
    availableBytes: () => options.availableBytes ?? 100 * each,
  })
  await changes.open(names.map((name, i) => named(name, { default: i === 0 })))
  const answer = async (model?: string, state: string | number = 1) =>
    (await slots.decide({ ...request, state, ...(model !== undefined && { model }) })).model
  return { slots, changes, opened, said, answer, states: () => statesOf(slots) }
}

const statesOf = (slots: ModelSlots) => slots.status().map(({ model, state }) => [model, state])
const quiet = () => {}

t.test('a model answers its requests, though another has taken its place', async (t) => {
  const { slots, changes, opened, answer, states } = await serving(['a', 'b'])
  const slow = answer('a', 'slow')
  const told: string[] = []
  const replaced = changes.replace('a', (text) => told.push(text))
  await until(() => opened.length === 3 && states().length === 3)
  t.equal(await answer('a'), 'a 2', 'new ones go to the new one')
  t.strictSame(states(), [
    ['a', 'ready'],
    ['b', 'ready'],
    ['a', 'draining'],
  ])
  t.equal(slots.status()[2]!.underWay, 1)
  t.notOk(opened[0]!.closed)
  opened[0]!.release()
  t.equal(await slow, 'a 0')
  t.match(await replaced, { model: 'a', state: 'ready', default: true })
  t.ok(opened[0]!.closed)
  t.match(told.at(-1), /finishes 1 request$/)
  t.strictSame(states(), [
    ['a', 'ready'],
    ['b', 'ready'],
  ])
})

t.test('without memory for two models, the old one ends first', async (t) => {
  let load = quiet
  const opening = new Promise<void>((resolve) => (load = resolve))
  let opens = 0
  const onOpen = () => (++opens === 3 ? opening : undefined)
  const { slots, changes, opened, answer, states } = await serving(['a', 'b'], {
    ...{ onOpen, availableBytes: 2.5 * each },
  })
  const slow = answer('b', 'slow')
  const told: string[] = []
  const replaced = changes.replace('b', (text) => told.push(text))
  await until(() => states().length === 3)
  t.match(told, [/not hold two of b/])
  t.strictSame(states(), [
    ['a', 'ready'],
    ['b', 'loading'],
    ['b', 'draining'],
  ])
  await t.rejects(answer('b'), { code: 'ERR_OVERLOADED', message: /b is being loaded/ })
  t.match(await answer('b').catch((error: unknown) => error), { retryAfterMs: Number })
  t.equal(await answer('a'), 'a 0', 'others answer')
  t.equal(await answer(), 'a 0')
  t.match(slots.runners(), [{ model: 'b', ready: false }], '/readyz names it')
  t.equal(opens, 2, 'the new one waits for the memory')
  opened[1]!.release()
  t.equal(await slow, 'b 1')
  await until(() => opens === 3)
  t.ok(opened[1]!.closed)
  load()
  await replaced
  t.equal(await answer('b'), 'b 2')
  t.strictSame(slots.runners(), [])
})

t.test('a model that fails after the old one had to end can be opened again', async (t) => {
  let broken = false
  const onOpen = () => {
    if (broken) throw new OiError('ERR_MODEL_LOAD', 'it is damaged')
  }
  const { changes, answer, slots } = await serving(['a', 'b'], {
    ...{ onOpen, availableBytes: 2.5 * each },
  })
  broken = true
  await t.rejects(changes.replace('b', quiet), { message: 'it is damaged' })
  t.match(slots.status()[1], { model: 'b', state: 'failed', reason: 'it is damaged' })
  await t.rejects(answer('b'), { code: 'ERR_OVERLOADED', message: /b could not be loaded/ })
  t.equal(await answer('a'), 'a 0')
  broken = false
  await changes.replace('b', quiet)
  t.equal(await answer('b'), 'b 2')
  broken = true
  await t.rejects(changes.replace('b', quiet))
  t.match(await changes.remove('b', quiet), { state: 'failed' })
  t.strictSame(statesOf(slots), [['a', 'ready']])
})

t.test('a failure beside other models leaves them unchanged', async (t) => {
  let broken = false
  const onOpen = () => {
    if (broken) throw new OiError('ERR_MODEL_LOAD', 'it is damaged')
  }
  const { changes, answer, states, opened } = await serving(['a', 'b'], { onOpen })
  const before = states()
  broken = true
  await t.rejects(changes.replace('a', quiet), { message: 'it is damaged' })
  await t.rejects(changes.add(named('c'), quiet), { message: 'it is damaged' })
  await t.rejects(changes.add(named('c', { default: true }), quiet), { message: 'it is damaged' })
  await t.rejects(changes.remove('c', quiet), { code: 'ERR_NOT_FOUND', message: /loaded: a, b/ })
  await t.rejects(changes.remove('a', quiet), { code: 'ERR_INVALID_ARGUMENT' })
  t.strictSame(states(), before)
  t.equal(await answer(), 'a 0')
  t.notOk(opened.some(({ closed }) => closed))
})

t.test('a new model has to fit beside the loaded ones and their caches', async (t) => {
  const { changes, opened } = await serving(['a'], { availableBytes: 3.5 * each })
  await t.rejects(changes.add(named('b', { hostCacheMb: (2 * each) / mebibyte }), quiet), {
    code: 'ERR_MODEL_MEMORY',
  })
  await changes.add(named('b', { hostCacheMb: -1 }), quiet)
  t.equal(opened[1]!.asked.hostCacheMb, Math.floor(each / mebibyte), 'as it would like')
  const held = process.memoryUsage.rss()
  await changes.add(named('c', { hostCacheMb: -1 }), quiet).then(
    () => t.fail('there is no room for its weights'),
    (error: OiError) => t.equal(error.code, 'ERR_MODEL_MEMORY'),
  )
  await changes.remove('b', quiet)
  await changes.add(named('c', { hostCacheMb: 0 }), quiet)
  await changes.add(named('d', { hostCacheMb: -1 }), quiet)
  const left = opened.at(-1)!.asked.hostCacheMb * mebibyte
  t.ok(left >= 0.5 * each - mebibyte && left < 0.5 * each + 2 * held, 'what is left')
})

t.test('a new default model answers from one moment to the next', async (t) => {
  const { slots, changes, answer } = await serving(['a'])
  await changes.add(named('b', { default: true }), quiet)
  t.equal(await answer(), 'b 1')
  t.equal(await answer('latest'), 'b 1')
  t.equal(await answer('a'), 'a 0')
  t.match(slots.models, [
    { name: 'b', default: true },
    { name: 'a', default: false },
  ])
  await changes.remove('a', quiet)
  await t.rejects(answer('a'), { code: 'ERR_REQUEST_UNACCEPTABLE' })
})

t.test('all models take the settings, or none does', async (t) => {
  let broken = ''
  const onPrepare = (name: string) => {
    if (name === broken) throw new OiError('ERR_CALIBRATION', 'it is damaged')
  }
  const { slots, changes, answer, opened } = await serving(['a', 'b'], { onPrepare })
  const wanted = new Map([
    ['b', named('b', { aliases: ['x'] })],
    ['a', named('a')],
  ])
  broken = 'a'
  await t.rejects(changes.arrange(wanted), { code: 'ERR_CALIBRATION' })
  t.equal(await answer(), 'a 0')
  await t.rejects(answer('x'), { code: 'ERR_REQUEST_UNACCEPTABLE' })
  broken = ''
  await t.rejects(changes.arrange(new Map([['b', named('b', { aliases: ['a'] })]])), {
    code: 'ERR_CONFIG',
  })
  await changes.arrange(wanted)
  t.equal(await answer(), 'b 1')
  t.equal(await answer('x'), 'b 1')
  t.strictSame([...slots.asked().keys()], ['b', 'a'])
  t.equal(opened.length, 2, 'none was opened')
})

t.test('changes are made one after another, and each caller gets its result', async (t) => {
  let inside = 0
  let most = 0
  const onOpen = async () => {
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setTimeout(resolve, 5))
    inside--
  }
  const { changes, slots } = await serving(['a'], { onOpen })
  const told: string[] = []
  const tell = (text: string) => told.push(text)
  await Promise.all(['b', 'c', 'd'].map((name) => changes.add(named(name), tell)))
  t.equal(most, 1)
  t.strictSame([...slots.asked().keys()], ['a', 'b', 'c', 'd'])
  t.equal(told.filter((text) => text.startsWith('Waiting')).length, 2)
})

t.test('a stopping server takes no model that comes too late', async (t) => {
  let load = quiet
  const opening = new Promise<void>((resolve) => (load = resolve))
  const { changes, slots, opened } = await serving(['a'], {
    onOpen: (name) => (name === 'late' ? opening : undefined),
  })
  const late = changes.add(named('late'), quiet)
  const later = changes.add(named('later'), quiet)
  await new Promise(setImmediate)
  await slots.close()
  load()
  await t.rejects(late, { code: 'ERR_ENGINE_CLOSED' })
  await t.rejects(later, { code: 'ERR_OVERLOADED' })
  t.strictSame(
    opened.map(({ asked: { name }, closed }) => [name, closed]),
    [
      ['a', true],
      ['late', true],
    ],
  )
})
