/** A model of hidden states goes through `oi calibrate` and `oi eval` as any other. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import { open } from '../../src/open.js'
import { oi } from './command.js'

/**
 * @param dir - Where the rows are written.
 * @param expected - The right answers of a row.
 */
export async function expectCalibrated(
  t: Test,
  dir: string,
  model: string,
  questions: DecideRequest['questions'],
  expected: (i: number) => Readonly<Record<string, string | boolean>>,
): Promise<void> {
  const rows = join(dir, 'rows.jsonl')
  const lines = Array.from({ length: 40 }, (_, i) =>
    JSON.stringify({ state: `Ticket ${i}`, questions, expected: expected(i) }),
  )
  writeFileSync(rows, lines.join('\n'))
  const flags = ['--model', model, '--json', '--threads', '1']
  const calibrated = await oi(['calibrate', rows, '--force', ...flags])
  t.equal(calibrated.code, 0, calibrated.stderr)
  const evaluated = await oi(['eval', rows, '--flips', ...flags])
  t.equal(evaluated.code, 0, evaluated.stderr)
  await using opened = await open({ model, threads: 1 })
  t.match(opened.card.calibration, { data: 'rows.jsonl' })
}
