/** How many replicas a model has, and on which devices. */
import t from 'tap'
import { readConfig } from '../../src/config.js'
import { onOneDevice, replicaDevices } from '../../src/opening/models-to-open.js'

const model = (device: string, replicas = 0) =>
  readConfig({}, { model: 'a.gguf', device, replicas }).models[0]!

t.test('one replica per device, or the given number, in turn', async (t) => {
  t.strictSame(replicaDevices(model('')), [''])
  t.strictSame(replicaDevices(model('', 3)), ['', '', ''])
  t.strictSame(replicaDevices(model('CUDA0, CUDA1')), ['CUDA0', 'CUDA1'])
  t.strictSame(replicaDevices(model('CUDA0,CUDA1', 3)), ['CUDA0', 'CUDA1', 'CUDA0'])
  t.strictSame(replicaDevices(model('cpu,cpu')), ['cpu', 'cpu'])
})

t.test('fewer replicas than devices are refused', async (t) => {
  t.throws(() => replicaDevices(model('CUDA0,CUDA1', 1)), {
    code: 'ERR_CONFIG',
    message: 'replicas: expected at least one for each device, got 1 for CUDA0, CUDA1',
  })
})

t.test('a command with sequential requests uses the first device', async (t) => {
  t.match(onOneDevice(model('CUDA0,CUDA1', 4)), { device: 'CUDA0', replicas: 1 })
  t.strictSame(replicaDevices(onOneDevice(model('', 4))), [''])
})
