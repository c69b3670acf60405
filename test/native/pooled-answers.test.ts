/**
 * Models of `rank@1`, `classes@1`, `similarity@1` and `prefix@1` in use: the library, batches, the
 * commands and runners treat them like any other. Needs the built addon; the fixtures are made on
 * first use.
 */
import t from 'tap'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DecideRequest } from '../../src/decide/types.js'
import { requireLoadable } from '../../src/opening/require-loadable.js'
import { open } from '../../src/open.js'
import { oi } from '../helpers/command.js'
import { postBatch, replyOf } from '../helpers/batch.js'
import { type FixtureName, fixturePath, outcomeOf, text } from '../helpers/fixture.js'
import { poisonedWord } from '../helpers/poisoned.js'
import { pooledModel } from '../helpers/pooled.js'
import { withRealServer } from '../helpers/real-server.js'
import { relativeError } from '../helpers/reference.js'

const criteria = { joy: null, anger: null, sadness: null }
/** Questions that each of the models answers. */
const questions: DecideRequest['questions'] = {
  team: { type: 'choice', instructions: 'Which mood?', criteria },
  glad: { type: 'noul', instructions: 'Is it glad?', criteria: { true: 'joy', false: 'anger' } },
  degree: { type: 'score', instructions: 'How?', criteria: ['sadness', 'joy'] },
}
const request: DecideRequest = { state: text(40), questions }

const models: [FixtureName, string, RegExp[]][] = [
  [
    'reranker',
    'rank@1',
    [/^pass +\[CLS\]{query}\[SEP\]{document}$/m, /^noul +p\(yes\) is the sigmoid/m],
  ],
  [
    'qwen3-reranker',
    'rank@1',
    [
      /^architecture +qwen3 \(attention\)$/m,
      /^pass .*\\n<Query>: {query}\\n<Document>: {document}</m,
    ],
  ],
  [
    'classifier',
    'classes@1',
    [/^pass +\[CLS\]{text}\[SEP\]$/m, /^labels +5: anger Fear joy sadness neutral tone$/m],
  ],
  [
    'embedding',
    'similarity@1',
    [/^scale +20$/m, /^note .*fallback.*negation$/m, /^architecture +bert \(encoder\)$/m],
  ],
  ['prefix', 'prefix@1', [/^pass +\[CLS\]{state}\[SEP\]/m]],
]

for (const [name, readout, shown] of models) {
  t.test(`${name}: orders change nothing, and every question has its evidence`, async (t) => {
    await using opened = await open({ model: await fixturePath(name), threads: 1 })
    t.equal(opened.card.readout, readout)
    t.same(opened.card.modalities, ['text'])
    const options = { evidence: true, orders: 'all' } as const
    const { answers, usage } = await opened.decide(request, options)
    for (const answer of Object.values(answers)) {
      t.equal(answer.evidence!.order_spread, undefined)
      t.ok(answer.evidence!.label_mass > 0 && answer.evidence!.label_mass <= 1)
    }
    t.ok(usage.input_tokens >= 40)
    const { team } = answers
    if (team?.type !== 'choice') throw new Error('a choice was expected')
    t.ok(new Set(Object.values(team.probabilities).map((p) => p.toFixed(4))).size === 3, 'differ')
  })

  t.test(`${name}: with deterministic, a runner gives the same bits as this process`, async (t) => {
    const model = await fixturePath(name)
    const bits = async (isolate: boolean) => {
      await using opened = await open({ model, isolate, deterministic: true, threads: 1 })
      const decided = await Promise.all([1, 2, 3].map(() => opened.decide(request)))
      return decided.map(({ answers }) => JSON.stringify(answers))
    }
    const [first, ...others] = [...(await bits(false)), ...(await bits(true))]
    for (const other of others) t.equal(other, first)
  })

  t.test(`${name}: inspect, calibrate and eval accept it`, async (t) => {
    const dir = t.testdir()
    const model = join(dir, 'model.gguf')
    copyFileSync(await fixturePath(name), model)
    const asked = join(dir, 'request.json')
    writeFileSync(asked, JSON.stringify(request))
    const inspected = await oi(['models', 'inspect', model])
    t.equal(inspected.code, 0, inspected.stderr)
    t.match(inspected.stdout, new RegExp(`^readout +${readout}$`, 'm'))
    for (const line of shown) t.match(inspected.stdout, line)
    const rendered = await oi(['models', 'inspect', model, '--render', asked])
    t.equal(rendered.code, 0, rendered.stderr)
    t.match(rendered.stdout, /river/)

    const { team, glad } = questions
    const rows = Array.from({ length: 40 }, (_, i) => {
      const expected = { team: i % 2 > 0 ? 'joy' : 'anger', glad: i % 3 > 0 }
      return JSON.stringify({ state: `Ticket ${i}`, questions: { team, glad }, expected })
    })
    const file = join(dir, 'rows.jsonl')
    writeFileSync(file, rows.join('\n'))
    for (const [command, flag] of [
      ['calibrate', '--force'],
      ['eval', '--flips'],
    ] as const) {
      const ran = await oi([command, file, flag, '--model', model, '--json', '--threads', '1'])
      t.equal(ran.code, 0, ran.stderr)
    }
    await using opened = await open({ model, threads: 1 })
    t.match(opened.card.calibration, { data: 'rows.jsonl' })
  })
}

t.test('each is tried out in a process of its own', async (t) => {
  process.env['XDG_CACHE_HOME'] = t.testdir()
  for (const [name] of models) {
    await t.resolves(requireLoadable({ modelPath: await fixturePath(name), threads: 1 }), name)
  }
})

for (const name of ['reranker', 'prefix'] as const) {
  t.test(`${name}: temperatures of the file are used`, async (t) => {
    const meta = { 'oi.temperature': '{"choice":2.5}' }
    const model = await pooledModel(t.testdir(), name, { meta })
    await using opened = await open({ model, threads: 1 })
    const { answers } = await opened.decide(request, { evidence: true })
    t.equal(answers['team']!.evidence!.temperature, 2.5)
    t.equal(answers['glad']!.evidence!.temperature, 1)
  })
}

for (const [name] of models) {
  t.test(`${name}: a batch has the answers of its requests, with refusals in their places`, (t) =>
    withRealServer({ fixture: name }, async (server) => {
      const states = [text(3), text(30), text(9000), text(12)]
      const requests = states.map((state) => ({ state, questions }))
      const { results, usage } = await replyOf(await postBatch(server, { requests }))
      const statuses = results.map(({ status }) => status)
      t.same(statuses, [200, 200, 400, 200])
      t.match(results[2], { error: { message: /the limit is \d+/ } })
      t.ok(usage['input_tokens']! > 45)
      const alone = await server.decider.decide({ state: states[1]!, questions })
      const shown = results[1]!.answers as typeof alone.answers
      for (const [key, answer] of Object.entries(alone.answers)) {
        const numbers = (of: typeof answer) =>
          of.type === 'noul' ? [of.noul] : Object.values(of.probabilities)
        const error = relativeError(numbers(shown[key]!), numbers(answer))
        t.ok(error < 1e-3, `${key}: ${error}`)
      }
    }),
  )

  t.test(
    `${name}: a token of NaN fails its request, and those beside it are answered`,
    async (t) => {
      const word = ' zebra'
      const path = join(t.testdir(), 'poisoned.gguf')
      const model = await poisonedWord(await fixturePath(name), path, word)
      await using opened = await open({ model, threads: 1 })
      const decided = [word, text(9), text(4) + word, text(20)].map((state) =>
        outcomeOf(opened.decide({ state, questions })),
      )
      const outcomes = await Promise.all(decided)
      t.same(outcomes, ['ERR_ENGINE_INTERNAL', 'answered', 'ERR_ENGINE_INTERNAL', 'answered'])
    },
  )
}
