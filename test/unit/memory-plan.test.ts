/** Whether models fit into memory. */
import t from 'tap'
import {
  fitCaches,
  type MemoryNeed,
  memoryNeed,
  requireMemory,
  sumNeeds,
  totalBytes,
} from '../../src/models/memory-plan.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const need = (model: string, facts: object) =>
  memoryNeed(model, createFakeEngine({ info: facts }).info, false)

const small = need('small', { weightBytes: 4e8, contextBytes: 1e8, hostCacheBytes: 0 })
const big = need('big', { weightBytes: 8e9, contextBytes: 1e9, hostCacheBytes: 2e9 })

t.test('weights, context and cache of all models count together', async (t) => {
  t.equal(totalBytes(small), 5e8)
  requireMemory([small, big], 11.5e9)
  t.throws(() => requireMemory([small, big], 11.4e9), { code: 'ERR_MODEL_MEMORY' })
})

t.test('a projector counts as weights, if the model is in memory', async (t) => {
  const { info } = createFakeEngine({ info: { weightBytes: 4e8 } })
  t.equal(memoryNeed('a', info, false, 1e8).weightBytes, 5e8)
  t.equal(memoryNeed('a', { ...info, device: 'CUDA0' }, false, 1e8).weightBytes, 0)
})

t.test('a refusal has the numbers, and the remedies', async (t) => {
  t.throws(() => requireMemory([small, big], 8e9), {
    message:
      '11.50 GB of memory are needed, 8.00 GB are available:\n' +
      '  small: weights 400.0 MB, context 100.0 MB, cache 0.0 MB\n' +
      '  big: weights 8.00 GB, context 1.00 GB, cache 2.00 GB\n' +
      'Choose a smaller --context-tokens or --host-cache-mb, a smaller model, or fewer models.',
  })
})

t.test('a cache without a size takes the rest, and never causes a refusal', async (t) => {
  const yields = { ...big, cacheYields: true }
  const cachesOf = (needs: readonly MemoryNeed[], availableBytes: number) =>
    fitCaches(needs, availableBytes).map(({ cacheBytes }) => cacheBytes)
  t.strictSame(cachesOf([small, yields], 20e9), [0, 2e9])
  t.strictSame(cachesOf([small, yields], 10e9), [0, 5e8])
  t.strictSame(cachesOf([yields, yields], 20e9), [1e9, 1e9])
  t.strictSame(cachesOf([yields, big], 20.5e9), [5e8, 2e9])
  t.strictSame(cachesOf([yields], 1e9), [0])
  t.strictSame(cachesOf([big], 1e9), [2e9], 'one that was asked for stays as it is')
  requireMemory(fitCaches([yields], 9e9), 9e9)
})

t.test('of a model on a GPU only the cache in RAM counts', async (t) => {
  const onGpu = { device: 'CUDA0 (a card)', weightBytes: 8e9, hostCacheBytes: 2e9 }
  t.match(need('gpu', onGpu), { weightBytes: 0, contextBytes: 0, cacheBytes: 2e9 })
})

t.test('each replica has weights, a context and a cache', async (t) => {
  const onGpu = need('big', { device: 'CUDA0', weightBytes: 8e9, hostCacheBytes: 2e9 })
  const sum = { model: 'big', weightBytes: 8e9, contextBytes: 1e9, cacheBytes: 4e9 }
  t.match(sumNeeds([big, onGpu]), sum)
  t.strictSame(sumNeeds([big]), big)
})

t.test('of a model partly on a GPU, the part in RAM counts', async (t) => {
  const entry = { description: '', layers: 4, freeBytes: 0 }
  const placement = [
    { ...entry, device: 'CUDA0', weightBytes: 6e9, cellBytes: 1e9, bufferBytes: 1e8 },
    { ...entry, device: 'CPU', weightBytes: 2e9, cellBytes: 3e8, bufferBytes: 1e8 },
  ]
  const partly = { device: 'CUDA0 (a card)', placement, weightBytes: 8e9, contextBytes: 1.3e9 }
  t.match(need('partly', partly), { weightBytes: 2e9, contextBytes: 4e8 })
})
