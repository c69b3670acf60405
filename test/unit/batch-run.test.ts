/** How many items of a batch are under way, and what happens to items that find no room. */
import t from 'tap'
import type { Decision } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import { BatchRun, mostUnderWay } from '../../src/http/requests/batch-run.js'
import { numbers } from '../helpers/batch.js'
import { decision } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const overloaded = () => new OiError('ERR_OVERLOADED', 'too much is waiting')

/** A run whose items end when the test says so. */
class Manual {
  readonly started: number[] = []
  readonly answered: number[] = []
  readonly failed: [index: number, code: string][] = []
  readonly #ends = new Map<number, [(decision: Decision) => void, (error: unknown) => void]>()
  readonly run: BatchRun
  /** Places in use. */
  inside = 0
  /** Free places; without one an item waits. */
  free = Infinity
  #admit: (() => void) | undefined

  constructor(count: number, free = Infinity) {
    this.free = free
    this.run = new BatchRun({
      items: numbers(count),
      enter: () => {
        if (this.free > 0) return this.#take()
        return new Promise<void>((resolve) => (this.#admit = resolve))
      },
      leave: () => {
        this.inside--
        this.free++
      },
      decide: (index) => {
        this.started.push(index)
        return new Promise((...ends) => this.#ends.set(index, ends))
      },
      onAnswer: (index) => this.answered.push(index),
      onFailure: (index, error) => this.failed.push([index, (error as OiError).code]),
      // Handing over takes no time here.
      now: () => 0,
    })
    this.run.feed()
  }

  get inLine(): boolean {
    return this.#admit !== undefined
  }

  /** Gives the waiting item a place. */
  async admit(): Promise<void> {
    const admit = this.#admit!
    this.#admit = undefined
    this.#take()
    admit()
    await new Promise(setImmediate)
  }

  #take(): undefined {
    this.inside++
    this.free--
  }

  get underWay(): number[] {
    return [...this.#ends.keys()]
  }

  async answer(...indexes: number[]): Promise<void> {
    for (const index of indexes) this.#end(index)[0](decision)
    await new Promise(setImmediate)
  }

  async refuse(error: OiError, ...indexes: number[]): Promise<void> {
    for (const index of indexes) this.#end(index)[1](error)
    await new Promise(setImmediate)
  }

  #end(index: number) {
    const ends = this.#ends.get(index)!
    this.#ends.delete(index)
    return ends
  }
}

t.test('the most allowed items start at once, the others as those end', async (t) => {
  const manual = new Manual(mostUnderWay + 3)
  t.strictSame(manual.started, numbers(mostUnderWay))
  await manual.answer(5)
  t.equal(manual.started.at(-1), mostUnderWay)
  await manual.refuse(new OiError('ERR_STATE_TOO_LONG', 'too long'), 7)
  t.equal(manual.started.at(-1), mostUnderWay + 1)
  t.strictSame(manual.failed, [[7, 'ERR_STATE_TOO_LONG']])
  t.equal(manual.underWay.length, mostUnderWay)
})

t.test('an item without room waits for others of the batch, and is asked again', async (t) => {
  const manual = new Manual(5)
  await manual.refuse(overloaded(), 3, 4)
  t.strictSame([manual.failed, manual.underWay], [[], [0, 1, 2]])
  await manual.answer(1)
  t.strictSame(manual.underWay, [0, 2, 3], 'as many as there was room for, in their order')
  await manual.answer(0, 2, 3)
  await manual.answer(4)
  t.strictSame(manual.answered.length, 5)
  t.strictSame(manual.started, [0, 1, 2, 3, 4, 3, 4])
})

t.test('after a refusal more are tried again, one for each round of answers', async (t) => {
  const manual = new Manual(12)
  await manual.refuse(overloaded(), ...numbers(12).slice(2))
  t.equal(manual.underWay.length, 2)
  await manual.answer(...manual.underWay)
  t.equal(manual.underWay.length, 2)
  await manual.answer(...manual.underWay)
  t.equal(manual.underWay.length, 3)
})

t.test(
  'with no item of the batch under way, an item without room fails, and so do the others',
  async (t) => {
    const manual = new Manual(3)
    await manual.refuse(overloaded(), 0, 1, 2)
    t.strictSame(manual.failed, [[2, 'ERR_OVERLOADED']])
    t.strictSame(manual.underWay, [0])
    await manual.refuse(overloaded(), 0)
    await manual.refuse(overloaded(), 1)
    t.equal(manual.failed.length, 3)
    t.strictSame(manual.underWay, [])
  },
)

t.test('no item starts while the batch is paused, or after it was stopped', async (t) => {
  const manual = new Manual(mostUnderWay + 10)
  manual.run.pause()
  await manual.answer(0, 1, 2)
  t.equal(manual.started.length, mostUnderWay)
  manual.run.resume()
  t.equal(manual.started.length, mostUnderWay + 3)
  manual.run.stop()
  await manual.answer(...manual.underWay)
  manual.run.resume()
  t.equal(manual.started.length, mostUnderWay + 3)
  t.equal(manual.answered.length, mostUnderWay + 3)
})

t.test(
  'an item takes a place and gives it back; without a free place, one item waits',
  async (t) => {
    const manual = new Manual(5, 2)
    t.strictSame(manual.started, [0, 1])
    t.ok(manual.inLine)
    t.equal(manual.inside, 2)
    await manual.answer(0)
    t.strictSame(manual.started, [0, 1], 'a free place is for whoever is first in line')
    await manual.admit()
    t.strictSame(manual.started, [0, 1, 2])
    await manual.answer(1, 2)
    await manual.admit()
    await manual.answer(3)
    await manual.answer(4)
    t.strictSame(manual.answered.toSorted(), [0, 1, 2, 3, 4])
    t.equal(manual.inside, 0)
  },
)

t.test('a place that no item needs any more is given back', async (t) => {
  for (const end of ['pause', 'stop'] as const) {
    const manual = new Manual(3, 1)
    manual.run[end]()
    await manual.admit()
    t.strictSame(manual.started, [0])
    t.equal(manual.inside, end === 'stop' ? 0 : 1)
  }
})

t.test('items that take long to hand over leave turns to other work', async (t) => {
  const started: number[] = []
  let ms = 0
  let turns = 0
  const count = () => {
    turns++
    if (started.length < 30) setImmediate(count)
  }
  setImmediate(count)
  const run = new BatchRun({
    items: numbers(30),
    enter: () => undefined,
    leave: () => {},
    decide: (index) => {
      started.push(index)
      ms += 5
      return new Promise(() => {})
    },
    onAnswer: () => {},
    onFailure: () => {},
    now: () => ms,
  })
  run.feed()
  t.equal(started.length, 1, 'the others later')
  await until(() => started.length === 30)
  t.ok(turns >= 10, `${turns} turns`)
})
