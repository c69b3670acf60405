/** Runs of `oi eval` over invented answers: order, flips, refusals. */
import t from 'tap'
import { setImmediate } from 'node:timers/promises'
import { keysOf } from '../../src/api/json.js'
import type { DecideRequest, Decision } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import { reverse } from '../../src/evaluate/flips.js'
import { type Ask, measureRow, type MeasuredRow } from '../../src/evaluate/measure.js'
import { observationsOf } from '../../src/evaluate/observe.js'
import { Results } from '../../src/evaluate/results.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { firstRows, runRows } from '../../src/evaluate/run.js'
import {
  all,
  decisionOn,
  limits,
  measured,
  piecesOf,
  rowTexts,
  sixtyRows,
} from '../helpers/labelled.js'
import { reportOf } from '../helpers/report.js'

const signal = new AbortController().signal

/** A copy with another value at a place in its answers; undefined removes the value. */
function changed(decision: Decision, path: string, value?: unknown): Decision {
  const copy = structuredClone(decision)
  const names = path.split('.')
  const last = names.pop()!
  let at = copy.answers as unknown as Record<string, unknown>
  for (const name of names) at = at[name] as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

t.test('every row is measured once, and no more at a time than allowed', async (t) => {
  const lines: number[] = []
  let running = 0
  let most = 0
  const slow: Ask = async (request) => {
    most = Math.max(most, ++running)
    await setImmediate()
    running--
    return decisionOn(request)
  }
  const whole = await runRows(sixtyRows(), {
    ...measured(slow),
    onRecord: ({ line }) => lines.push(line),
  })
  t.equal(whole, true)
  t.equal(most, 4)
  t.strictSame(
    lines.toSorted((a, b) => a - b),
    rowTexts.map((_, i) => i + 1),
  )
})

t.test('reversed questions go with the row, or alone if the row is full', async (t) => {
  const [row] = await all(firstRows(sixtyRows(), 1))
  const seen: DecideRequest[] = []
  const recording: Ask = async (request) => {
    seen.push(request)
    return decisionOn(request)
  }
  const of = (maxQuestions: number) => ({ ask: recording, flips: true, maxQuestions })
  const together = (await measureRow(row!, of(5), signal)) as MeasuredRow
  const counts = () => seen.map(({ questions }) => keysOf(questions).length)
  t.strictSame(counts(), [5])
  seen.length = 0
  const apart = (await measureRow(row!, of(3), signal)) as MeasuredRow
  t.strictSame(counts(), [3, 2])
  t.strictSame(apart.outcomes, together.outcomes)
  t.equal(apart.tokens.input, 2 * together.tokens.input)
  t.strictSame(
    together.outcomes.map(({ reversed }) => reversed !== undefined),
    [false, true, true],
  )
})

t.test('reversed options stand in reverse, and the right answer is the same option', async (t) => {
  const text =
    '{"state":"s","questions":{"c":{"type":"choice","criteria":{"9":1,"a":2,"1":3}},' +
    '"s":{"type":"score","criteria":["low","middle","high"]},' +
    '"c reversed":{"type":"choice","criteria":{"only":null}}},' +
    '"expected":{"c":"9","s":0,"c reversed":"only"}}'
  const [row] = await all(rowsOf(piecesOf([text]), limits))
  const { row: back, names } = reverse(row!)!
  t.strictSame(
    [...names],
    [
      ['c', "c reversed'"],
      ['s', 's reversed'],
    ],
  )
  t.strictSame(keysOf(back.request.questions["c reversed'"]!.criteria!), ['1', 'a', '9'])
  t.strictSame(back.request.questions['s reversed']!.criteria, ['high', 'middle', 'low'])
  t.strictSame({ ...back.expected }, { "c reversed'": '9', 's reversed': 2 })
})

t.test(
  'a model that answers by names does not flip, one that answers by places always does',
  async (t) => {
    const answering =
      (probabilitiesOf: (texts: readonly string[]) => readonly number[]): Ask =>
      async (request) => {
        let decision = decisionOn(request)
        for (const name of keysOf(request.questions)) {
          const question = request.questions[name]!
          if (question.type === 'noul') continue
          const isScore = question.type === 'score'
          const texts = isScore ? question.criteria.map(String) : keysOf(question.criteria)
          const entries = probabilitiesOf(texts).map((p, i) => [isScore ? i : texts[i], p])
          const probabilities: unknown = Object.fromEntries(entries)
          decision = changed(decision, `${name}.probabilities`, probabilities)
        }
        return decision
      }
    const byPlace = answering(({ length: n }) => {
      return Array.from({ length: n }, (_, i) => (i === 0 ? 0.7 : 0.3 / (n - 1)))
    })
    const byName = answering((texts) => {
      const [first] = texts.toSorted()
      return texts.map((text) => (text === first ? 0.6 : 0.4 / (texts.length - 1)))
    })
    for (const [answers, rate] of [
      [byPlace, 1],
      [byName, 0],
    ] as const) {
      const results = new Results()
      await runRows(sixtyRows(), {
        ...measured(answers),
        onRecord: (record) => results.add(record),
      })
      t.equal(reportOf(results).overall.flips?.rate, rate)
      t.equal(reportOf(results).overall.flips?.answers, 120)
    }
  },
)

t.test('a refused row is counted, and nothing of it is measured', async (t) => {
  const refusing: Ask = async (request) => {
    if (request.state === 'state 3') {
      throw new OiError('ERR_STATE_TOO_LONG', 'state: expected less', { param: 'state' })
    }
    return decisionOn(request)
  }
  const results = new Results()
  await runRows(sixtyRows(), { ...measured(refusing), onRecord: (record) => results.add(record) })
  const { rows: counts, overall } = reportOf(results)
  t.match(counts, { answered: 59, refused: 1, refusals: [{ line: 4, message: /state: expected/ }] })
  t.equal(overall.answers, 3 * 59)
})

t.test('other errors end the run, with the line', async (t) => {
  const failing: Ask = async (request) => {
    if (request.state === 'state 5') throw new OiError('ERR_REMOTE', 'it has gone')
    return decisionOn(request)
  }
  const seen: number[] = []
  const run = runRows(sixtyRows(), {
    ...measured(failing),
    onRecord: ({ line }) => seen.push(line),
  })
  await t.rejects(run, { code: 'ERR_REMOTE', message: 'line 6: it has gone' })
  t.ok(seen.length < 60)
})

t.test('rows are written in their order, and few wait for a slow one', async (t) => {
  const [asked, written]: [number[], number[]] = [[], []]
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const run = runRows(sixtyRows(), {
    concurrency: 2,
    measure: async ({ line }) => {
      asked.push(line)
      if (line === 3) await released
      await setImmediate()
      return line
    },
    onRecord: () => {},
    isDone: (line) => line % 7 === 0,
    inOrder: {
      earlier: async (line) => -line,
      write: async ({ line }, record) => {
        t.equal(Math.abs(record), line)
        written.push(record)
      },
    },
  })
  for (let i = 0; i < 500; i++) await setImmediate()
  t.strictSame(written, [1, 2])
  t.ok(asked.length > 10 && asked.length <= 2 + 2 * 8, `${asked.length} rows`)
  release()
  t.equal(await run, true)
  t.strictSame(
    written,
    rowTexts.map((_, i) => ((i + 1) % 7 === 0 ? -i - 1 : i + 1)),
  )
})

t.test('a row that cannot be written ends the run', async (t) => {
  let asked = 0
  const run = runRows(sixtyRows(), {
    concurrency: 2,
    measure: async () => ++asked,
    onRecord: () => {},
    inOrder: {
      earlier: () => t.fail() as never,
      write: async ({ line }) => {
        if (line === 5) throw new Error('the disk is full')
      },
    },
  })
  await t.rejects(run, { message: 'the disk is full' })
  t.ok(asked < 60)
})

t.test('a signal ends the run without a failure', async (t) => {
  const stop = new AbortController()
  let count = 0
  const onRecord = () => {
    if (++count === 10) stop.abort()
  }
  t.equal(await runRows(sixtyRows(), { ...measured(), onRecord, signal: stop.signal }), false)
  t.ok(count >= 10 && count < 20, `${count} rows`)
  t.equal(await runRows(sixtyRows(), { ...measured(), onRecord, signal: stop.signal }), false)
})

t.test('a reply that does not answer the question is a failure', async (t) => {
  const [row] = await all(firstRows(sixtyRows(), 1))
  const good = decisionOn(row!.request)
  t.equal(observationsOf(row!, good).length, 3)
  for (const [title, path, value, message] of [
    ['none', 'size', undefined, /answers\.size: expected an answer of type score/],
    ['another type', 'size', good.answers['sure'], /answers\.size: expected an answer of type/],
    ['no evidence', 'sure.evidence', undefined, /answers\.sure: expected evidence/],
    ['few logits', 'size.evidence.logits', [1, 2], /logits: expected 3 numbers/],
    ['no mass', 'sure.evidence.label_mass', undefined, /answers\.sure: expected evidence/],
    ['an option less', 'size.probabilities.2', undefined, /size: expected 3 probabilities/],
    ['no probabilities', 'size.probabilities', undefined, /size: expected 3 numbers/],
    ['an impossible one', 'sure.noul', 1.5, /answers\.sure: expected 2 probabilities/],
  ] as const) {
    const bad = changed(good, path, value)
    t.throws(() => observationsOf(row!, bad), { code: 'ERR_REMOTE', message }, title)
  }
})

t.test('a logit of -Infinity, which JSON makes null, stays one', async (t) => {
  const [row] = await all(firstRows(sixtyRows(), 1))
  const decision = changed(decisionOn(row!.request), 'size.evidence.logits', [1, null, 2])
  const size = observationsOf(row!, decision).find(({ question }) => question === 'size')
  t.equal(size!.logits[1], -Infinity)
})
