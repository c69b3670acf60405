/**
 * Whether a model's answers agree with one another, right or not: `jevbench` of PyPI asks a server
 * related questions, one request at a time, so that the figures are the same in every run.
 *
 * @module
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { BuildError, run } from '../../build/run.js'
import { pythonEnvironment } from '../../python/environment.js'
import type { Bench } from '../bench.js'
import type { Figure } from '../figure.js'
import { withOiServer } from '../oi-server.js'

type Shares = Readonly<Record<string, number | null>>

/** Of jevbench: 1 is no contradiction; null where too many questions were refused. */
interface Report {
  readonly scores: {
    readonly overall: number | null
    readonly pillars: Shares
    readonly groups: Shares
    readonly relations: Shares
    /** None of a single case. */
    readonly ci: { readonly overall?: readonly [number, number] }
  }
  readonly result: { readonly errors: readonly unknown[] }
}

export async function coherence(bench: Bench): Promise<void> {
  const environment = await pythonEnvironment()
  if ('missing' in environment) throw new BuildError(environment.missing)
  const model = await bench.model('oi-small')
  const folder = mkdtempSync(join(tmpdir(), 'oi-coherence-'))
  try {
    const out = join(folder, 'report.json')
    const asked = ['--model', 'default', '--name', basename(model.path), '--out', out, '--verbose']
    const suite = bench.options.quick ? 'examples' : 'jevbench-mini'
    const more = ['--suite', suite, '--cache-dir', join(folder, 'cache')]
    await withOiServer(model, async ({ port, key }) => {
      const url = `http://127.0.0.1:${port}/v1/systemone`
      const args = ['-m', 'jevbench', 'eval', '--url', url, ...asked, ...more]
      try {
        await run(environment.python, args, { env: { ...process.env, JEVBENCH_API_KEY: key } })
      } catch (error) {
        // It also ends with 1 if some questions were refused.
        if (!existsSync(out)) throw error
      }
    })
    const report = JSON.parse(readFileSync(out, 'utf8')) as Report
    bench.record(figuresOf(report), model)
    const { scores, result } = report
    const [low, high] = (scores.ci.overall ?? []).map((share) => (100 * share).toFixed(1))
    if (low !== undefined) bench.note(`coherence: overall is in ${low} to ${high}, at 95 %`)
    if (result.errors.length > 0) bench.note(`coherence: ${result.errors.length} requests failed`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @throws {@link BuildError} if too much was refused for an overall figure. */
function figuresOf({ scores }: Report): Figure[] {
  const { overall, pillars, groups, relations } = scores
  const shares = {
    overall,
    representation: pillars['REP'],
    'batch independence': pillars['BAT'],
    measure: pillars['MEA'],
    logic: pillars['LOG'],
    'choice sets': pillars['CHO'],
    'a question and its negation': groups['MEA.complement'],
    'options renamed': relations['option_rename'],
  }
  return Object.entries(shares).map(([name, share]) => {
    if (typeof share !== 'number')
      throw new BuildError(`coherence: too few answers for the figure "${name}"`)
    return { layer: 'coherence', name, unit: '%', values: [100 * share], disturbed: 0 }
  })
}
