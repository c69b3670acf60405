/** Opening a model several times. */
import t from 'tap'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { ModelInfo } from '../../src/engine/types.js'
import { openReplicas } from '../../src/runner/open-replicas.js'
import { ReplicaSet } from '../../src/runner/replica-set.js'
import { HeldReplica } from '../helpers/held-replica.js'

/** The opened engines have these facts, one after another. */
function opener(...facts: Partial<ModelInfo>[]) {
  const asked: EngineOptions[] = []
  const opened: HeldReplica[] = []
  const open = async (options: EngineOptions) => {
    const info = facts[asked.length]
    asked.push(options)
    if (info === undefined) throw new Error('no memory')
    opened.push(new HeldReplica(info))
    return opened.at(-1)!
  }
  return { asked, opened, open }
}

t.test('all have the context of the first one, and their own folder', async (t) => {
  const { asked, open } = opener({ contextTokens: 3072 }, { contextTokens: 3072 })
  const told: number[] = []
  const options = {
    ...{ modelPath: 'a.gguf', diskCacheDir: '/cache/a', threads: 3 },
    onProgress: (fraction: number) => told.push(fraction),
  }
  const engine = await openReplicas(['CUDA0', 'CUDA1'], options, open)
  t.ok(engine instanceof ReplicaSet)
  t.match(asked, [
    { device: 'CUDA0', contextTokens: undefined, diskCacheDir: '/cache/a', threads: 3 },
    { device: 'CUDA1', contextTokens: 3072, diskCacheDir: '/cache/a-replica-2', threads: 3 },
  ])
  for (const { onProgress } of asked) for (const done of [0.5, 1]) onProgress!(done)
  t.strictSame(told, [0.25, 0.5, 0.75, 1])
})

t.test('a single replica is not a set', async (t) => {
  const { opened, open } = opener({})
  t.equal(await openReplicas([''], { modelPath: 'a.gguf' }, open), opened[0])
})

t.test('if one replica cannot be opened, none stays open', async (t) => {
  const { opened, open } = opener({}, {})
  await t.rejects(openReplicas(['', '', ''], { modelPath: 'a.gguf' }, open), /no memory/)
  const ended = opened.map(({ closed }) => closed)
  t.strictSame(ended, [true, true])
})

t.test('a file that has become another model in between is refused', async (t) => {
  for (const other of [{ vocabularySize: 1 }, { metadata: { 'general.name': 'Other' } }]) {
    const { opened, open } = opener({}, other)
    await t.rejects(openReplicas(['', ''], { modelPath: 'a.gguf' }, open), {
      code: 'ERR_MODEL_LOAD',
      message: new RegExp(Object.keys(other)[0]!),
    })
    t.ok(opened.every(({ closed }) => closed))
  }
})

t.test('facts that depend on the device may differ', async (t) => {
  const { open } = opener({ device: 'CUDA0', kernels: '' }, { device: 'CPU', kernels: 'AVX2' })
  t.ok(await openReplicas(['CUDA0', 'cpu'], { modelPath: 'a.gguf' }, open))
})
