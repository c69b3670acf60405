/** Projectors that are pulled with a model. In this process, with random bytes; no addon. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSource } from '../../src/models/pull/source.js'
import { digestOf } from '../helpers/hub-server.js'
import { Puller, someBytes } from '../helpers/pull.js'

t.test('a given projector comes with a model from an address, a path or a hub', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const folder = t.testdir()
  const [bytes, projector] = [someBytes(0.1), someBytes(0.2)]
  const at = (text: string) => readSource(text, new URL(hub.origin))
  writeFileSync(join(folder, 'eyes.gguf'), projector)
  hub.serve('/mmproj', projector)
  hub.repositories['a/b'] = {
    ...{ 'm.gguf': { bytes }, 'mmproj-F16.gguf': { bytes } },
    'mmproj-F32.gguf': { bytes: projector },
  }
  const url = hub.serve('/x/m.gguf', bytes)
  writeFileSync(join(folder, 'local.gguf'), bytes)
  for (const [source, text, name] of [
    [url, join(folder, 'eyes.gguf'), 'eyes.gguf'],
    [join(folder, 'local.gguf'), `${hub.origin}/mmproj`, 'mmproj.gguf'],
    ['hf:a/b:m.gguf', 'hf:a/b:mmproj-F32.gguf', 'mmproj-F32.gguf'],
  ] as const) {
    const options = { projector: at(text), name: name.slice(0, -5) }
    const { model } = await puller.pull(source, { ...options, sha256: digestOf(bytes) })
    t.match(model, { projector: name, files: [{ sha256: digestOf(bytes) }, { name }] })
    t.ok(puller.read(model.name, name).equals(projector), name)
    t.equal((await puller.pull(source, options)).unchanged, true)
  }
  for (const [text, code, message] of [
    ['hf:a/b', 'ERR_PULL', /hf:a\/b is no file; name one of its files/],
    [join(folder, 'absent.gguf'), 'ERR_PULL', /There is no file .*absent\.gguf/],
    [url, 'ERR_CONFIG', /--mmproj: m\.gguf is the name of the model's file too/],
  ] as const) {
    await t.rejects(puller.pull(url, { projector: at(text), name: 'n' }), { code, message })
  }
})
