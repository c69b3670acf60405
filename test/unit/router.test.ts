/** Several models behind one decider. */
import t from 'tap'
import { createDecider } from '../../src/decide/decide.js'
import { namesOf, requireDistinctNames } from '../../src/decide/model-names.js'
import { Router } from '../../src/decide/router.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const request = { state: 1, questions: { q: { type: 'noul', instructions: '?' } as const } }

async function router() {
  const engines = [createFakeEngine(), createFakeEngine()] as const
  const facts = { digest: 'sha256:', releaseDate: '2025-01-02' }
  return {
    engines,
    router: new Router([
      await createDecider(engines[0], { ...facts, fileName: 'small.gguf', aliases: ['fast'] }),
      await createDecider(engines[1], {
        ...facts,
        fileName: 'big.gguf',
        aliases: ['good'],
        default: false,
      }),
    ]),
  }
}

t.test('a request goes to the model that it names, without a name to the default', async (t) => {
  const { router: several, engines } = await router()
  for (const [model, name] of [
    ['small', 'small'],
    ['fast', 'small'],
    ['jev-latest', 'small'],
    ['default', 'small'],
    ['big', 'big'],
    ['good', 'big'],
  ] as const) {
    t.equal((await several.decide({ ...request, model })).model, name, model)
  }
  t.equal((await several.decide(request)).model, 'small')
  t.strictSame([engines[0].scored.length, engines[1].scored.length], [5, 2])
})

t.test('an unknown model is refused with all names of all models', async (t) => {
  const { router: several } = await router()
  await t.rejects(several.decide({ ...request, model: 'gpt' }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'model',
    message:
      'model: expected one of small, fast, default, latest, jev-latest, jev-preview, big, good, got "gpt"',
  })
})

t.test('a key whose models are not here is told so, by their names', async (t) => {
  const { router: several } = await router()
  await t.rejects(several.decide({ ...request, model: 'gpt' }, { models: ['gone'] }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    message: 'model: this key may use gone, and no such model is here',
  })
  await t.rejects(several.decide({ ...request, model: 'gpt' }, { models: ['gone', 'too'] }), {
    message: 'model: this key may use gone, too, and no such models are here',
  })
})

t.test('all models are listed, one as the default', async (t) => {
  const { router: several } = await router()
  t.match(several.models, [
    { name: 'small', default: true },
    { name: 'big', default: false },
  ])
})

t.test("every engine reports under its model's name", async (t) => {
  const { router: several } = await router()
  await several.decide({ ...request, model: 'big' })
  t.match(several.engines(), [
    { model: 'small', stats: { answered: 0 } },
    { model: 'big', stats: { answered: 1 } },
  ])
})

const named = (file: string, name: string, aliases: string[], isDefault = false) => ({
  ...{ file, name, aliases, default: isDefault },
})

for (const [title, models, name] of [
  ['name', [named('1.gguf', 'a', [], true), named('2.gguf', 'a', [])], 'a'],
  ['alias', [named('1.gguf', 'a', ['x'], true), named('2.gguf', 'b', ['y', 'x'])], 'x'],
  [
    'name of the default',
    [named('1.gguf', 'a', [], true), named('2.gguf', 'latest', [])],
    'latest',
  ],
] as const) {
  t.test(`two models that claim the same ${title} are refused, naming both files`, async (t) => {
    t.throws(() => requireDistinctNames(models), {
      code: 'ERR_CONFIG',
      message: new RegExp(`1\\.gguf and 2\\.gguf both claim the name ${name}:`),
    })
  })
}

t.test('a model may claim its own name twice', async (t) => {
  requireDistinctNames([named('1.gguf', 'a', ['a', 'default'], true), named('2.gguf', 'b', [])])
  t.strictSame(namesOf(named('2.gguf', 'b', ['c'])), ['b', 'c'])
})
