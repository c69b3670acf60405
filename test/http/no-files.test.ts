/**
 * What is no file, where a server expects one.
 *
 * BUG: a FIFO named as a model's file froze the whole server until its other end was opened.
 *
 * Needs the built addon.
 */
import t from 'tap'
import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyOfModel, Served } from '../helpers/served.js'

const args = ['--threads', '1']

function fifo(path: string): string {
  execFileSync('mkfifo', [path])
  return path
}

/** Asks `/healthz` until `task` is done. @returns The times, milliseconds, the longest last. */
async function healthDuring(served: Served, task: Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  let done = false
  void task.catch(() => {}).finally(() => (done = true))
  do {
    const startMs = performance.now()
    t.equal(await served.server.status('/healthz'), 200)
    times.push(performance.now() - startMs)
    await sleep(5)
  } while (!done)
  return times.sort((a, b) => a - b)
}

t.test('a FIFO, a device or a folder in a load is refused by what it is', async (t) => {
  const folder = t.testdir({ 'r.json': JSON.stringify({ templateFile: 'pipe.jinja' }) })
  const served = await Served.start(t, { args })
  const file = copyOfModel(t, 'second')
  const pipe = fifo(join(folder, 'pipe.gguf'))
  const readout = fifo(join(folder, 'pipe.json'))
  fifo(join(folder, 'pipe.jinja'))
  const twoReadouts = join(folder, 'r.json')
  for (const [input, code, message] of [
    [{ file: pipe }, 'ERR_MODEL_LOAD', /pipe.gguf is a FIFO, expected a file/],
    [{ file: folder }, 'ERR_MODEL_LOAD', /is a folder, expected a file/],
    [{ file: '/dev/zero' }, 'ERR_MODEL_LOAD', /is a device, expected a file/],
    [{ file, settings: { mmproj: pipe } }, 'ERR_MODEL_LOAD', /pipe.gguf is a FIFO/],
    [{ file, settings: { readout } }, 'ERR_READOUT', /pipe.json is a FIFO/],
    [{ file, settings: { readout: twoReadouts } }, 'ERR_READOUT', /pipe.jinja/],
    [{ file, settings: { calibration: pipe } }, 'ERR_CALIBRATION', /pipe.gguf is a FIFO/],
  ] as const) {
    const loading = served.admin('models.load', input)
    const times = await healthDuring(served, loading)
    await t.rejects(loading, { code, message })
    t.ok(times[times.length >> 1]! < 50, `${times.at(-1)} ms at most`)
  }
  t.equal((await served.decide('It rains.')).status, 200)
})

t.test('a settings file that has become a FIFO changes nothing at a reload', async (t) => {
  const folder = t.testdir()
  const config = join(folder, 'oi.json')
  writeFileSync(config, '{}')
  const served = await Served.start(t, { args: [...args, '--config', config] })
  renameSync(config, `${config}.away`)
  fifo(config)
  served.server.child.kill('SIGHUP')
  await served.logged(/SIGHUP: nothing has changed: .*oi\.json is a FIFO, expected a file/)
  t.equal((await served.decide('It rains.')).status, 200)
})
