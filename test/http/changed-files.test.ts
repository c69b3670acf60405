/**
 * Model files that change under a running server.
 *
 * BUG: a file that was overwritten in place was answered with 500 for ever, or wrongly with 200,
 * while `/readyz` said 200 and the log nothing.
 *
 * Needs the built addon.
 */
import t, { type Test } from 'tap'
import {
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultModelPath } from '../../src/models/default-model.js'
import { fixturePath, openEngine, user } from '../helpers/fixture.js'
import { poisoned } from '../helpers/poisoned.js'
import { copyOfModel, Served } from '../helpers/served.js'

const threads = ['--threads', '1']
const other = await fixturePath('small')

/** A server with the package's model, and a second one, `second`, whose file may change. */
async function serving(t: Test, flags: readonly string[] = []) {
  const file = copyOfModel(t, 'second')
  const served = await Served.start(t, { args: [...threads, ...flags] })
  await served.admin('models.load', { file, name: 'second', settings: { threads: 1 } })
  const readiness = async () => {
    const reply = await fetch(served.server.url('/readyz'))
    return { status: reply.status, body: await reply.text() }
  }
  /** What `second` answers; undefined for a refusal, which can be tried again. */
  const answer = async () => {
    const { status, headers, body } = await served.decide('It rains.', 'second')
    if (status === 200) return JSON.stringify((JSON.parse(body) as { answers: object }).answers)
    t.equal(status, 503, body)
    t.ok(Number(headers.get('retry-after')) >= 1, 'says when to try again')
    return undefined
  }
  const status = async () =>
    (await served.admin('models.status')).find((m) => m.model === 'second')!
  /** Waits for an answer with everything ready. */
  const healed = async () => {
    let now: string | undefined
    await served.server.until(async () => {
      await sleep(50)
      now = await answer()
      return now !== undefined && (await readiness()).status === 200
    })
    return now!
  }
  const first = (await answer())!
  return { served, file, readiness, answer, status, healed, first }
}

for (const [how, flags] of [
  ['in a process of its own', []],
  // Read, not mapped: a file that is cut would end the process.
  ['in the process of the server', ['--in-process', '--mmap', 'off']],
] as const) {
  t.test(`a file that is copied over in place is loaded again, ${how}`, async (t) => {
    const { served, file, readiness, status, healed, first } = await serving(t, flags)
    copyFileSync(other, file)
    await served.logged(
      /The model second answers nothing until it is loaded again: its file has changed/,
    )
    if ((await readiness()).status === 503) {
      t.match(await readiness(), { status: 503, body: /Being loaded again: second/ })
    }
    await served.logged(/second is loaded again/)
    t.not(await healed(), first)
    t.match(await status(), { state: 'ready', reason: undefined })
    t.match(JSON.parse((await served.decide('It rains.')).body), { model: 'oi-small' })
    const length = served.said.length
    copyFileSync(defaultModelPath, file)
    await served.logged(/second is loaded again/, length)
    t.equal(await healed(), first, 'the old bytes, the old answers')
  })

  t.test(`a file that is replaced by a rename: every request is answered, ${how}`, async (t) => {
    const { served, file, readiness, answer, first } = await serving(t, flags)
    copyFileSync(other, `${file}.new`)
    renameSync(`${file}.new`, file)
    let now: string | undefined = first
    await served.server.until(async () => {
      await sleep(20)
      now = await answer()
      t.equal((await readiness()).status, 200)
      t.ok(now)
      return now !== first
    })
    t.match(served.said, /The model second is loaded again: its file has changed/)
  })

  t.test(
    `a file that is gone is said, and the model answers until there is another, ${how}`,
    async (t) => {
      const { served, file, readiness, answer, status, first } = await serving(t, flags)
      rmSync(file)
      await served.logged(/The model second has no file any more/)
      t.match(await readiness(), { status: 200 })
      t.match(await status(), { state: 'ready' })
      t.equal(await answer(), first)
      copyFileSync(other, `${file}.new`)
      renameSync(`${file}.new`, file)
      await served.server.until(async () => ![undefined, first].includes(await answer()))
      t.equal(served.said.match(/has no file any more/g)?.length, 1)
    },
  )
}

t.test(
  'a request is not held up by a process that cannot come back, as its file is another',
  async (t) => {
    const { served, file, answer, status, first } = await serving(t)
    copyFileSync(other, `${file}.new`)
    const { pid } = (await status()).processes[0]!
    renameSync(`${file}.new`, file)
    process.kill(pid, 'SIGKILL')
    const startMs = performance.now()
    await served.server.until(async () => ![undefined, first].includes(await answer()))
    t.ok(performance.now() - startMs < 30_000, `${performance.now() - startMs} ms`)
  },
)

t.test(
  'a file that is cut is tried when it is stable, and again when it has changed',
  async (t) => {
    const { served, file, readiness, status, healed, answer, first } = await serving(t)
    const bytes = readFileSync(file)
    truncateSync(file, bytes.length / 2)
    await served.logged(
      /second answers nothing until its file changes: [^]*could not be loaded again/,
    )
    t.match(await readiness(), { status: 503, body: /second/ })
    t.match(await status(), { state: 'failed', reason: /could not|ends|cut|data/ })
    t.equal(await answer(), undefined)
    const tries = () => served.said.split('is loaded again').length
    const before = tries()
    await sleep(3000)
    t.equal(tries(), before, 'one try for one change')
    writeFileSync(file, bytes)
    t.equal(await healed(), first)
  },
)

t.test(
  'numbers that are not finite, several times in a row: the model is loaded again',
  async (t) => {
    const from = await fixturePath('dense')
    const engine = await openEngine({ modelPath: from, metadataOnly: true })
    const [tokens] = await engine.tokenize([user(' zebra')])
    await engine.close()
    const file = copyOfModel(t, 'second')
    await poisoned(from, file, 'token_embd.weight', tokens![0])
    const served = await Served.start(t, { args: threads })
    await served.admin('models.load', { file, name: 'second', settings: { threads: 1 } })
    const ask = async (state: string) => (await served.decide(state, 'second')).status
    t.strictSame(
      [await ask('a zebra'), await ask('a zebra'), await ask('a horse')],
      [500, 500, 200],
    )
    t.equal(await ask('a zebra'), 500, 'its own fault')
    await sleep(2500)
    t.equal(await ask('a horse'), 200)
    t.notMatch(served.said, /loaded again/)
    for (let i = 0; i < 3; i++) t.equal(await ask('a zebra'), 500)
    await served.logged(
      /second is loaded again: its numbers for 3 requests in a row were not finite/,
    )
    await served.server.until(async () => (await ask('a horse')) === 200)
    t.equal(await served.server.status('/readyz'), 200)
    for (let i = 0; i < 3; i++) t.equal(await ask('a zebra'), 500)
    await sleep(2500)
    t.equal(await ask('a horse'), 200, 'not again within a minute')
  },
)
