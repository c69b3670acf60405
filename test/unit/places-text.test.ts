/** The placement of a model, for people. */
import t from 'tap'
import { placementLines, placesText } from '../../src/opening/places-text.js'

const gpu = {
  ...{ device: 'CUDA0', description: 'a card', layers: 20, weightBytes: 4e9, cellBytes: 1e9 },
  ...{ bufferBytes: 2e8, freeBytes: 8e9 },
}
const ram = { ...gpu, device: 'CPU', description: '', layers: 9, freeBytes: 0 }

t.test('a model in RAM is on the CPU', async (t) => {
  t.equal(placesText({ device: 'CPU', placement: [ram] }), 'CPU')
})

t.test('each GPU is listed with its layers, their memory, and the free memory', async (t) => {
  t.equal(
    placesText({ device: 'CUDA0 (a card)', placement: [gpu, ram] }),
    'CUDA0 (a card: 20 of 29 layers, weights 4.00 GB, cells 1.00 GB, buffers 200.0 MB of 8.00 GB free)',
  )
})

t.test('the plan has a line for each device, also for the CPU', async (t) => {
  t.strictSame(placementLines([gpu, ram]), [
    'CUDA0 (a card): 20 of 29 layers, weights 4.00 GB, cells 1.00 GB, buffers 200.0 MB of 8.00 GB free',
    'CPU: 9 of 29 layers, weights 4.00 GB, cells 1.00 GB, buffers 200.0 MB',
  ])
})
