/** The report as a page and as a table: whole, well-formed, with data that cannot take control. */
import t from 'tap'
import { evaluationText } from '../../src/cli/evaluate/evaluation-text.js'
import { reportPage } from '../../src/evaluate/html/page.js'
import { type Ask, measureRow } from '../../src/evaluate/measure.js'
import type { Outcome } from '../../src/evaluate/figures/outcome.js'
import type { Report } from '../../src/evaluate/report.js'
import { Results } from '../../src/evaluate/results.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { runRows } from '../../src/evaluate/run.js'
import { decisionOn, limits, piecesOf, rowText } from '../helpers/labelled.js'
import { reportOf } from '../helpers/report.js'

const evil = `</td><script src="https://evil.example/x.js">'&"\u0000\u001b[2J\u202e`

async function reportOfRows(count: number): Promise<Report> {
  const results = new Results()
  const ask: Ask = async (request) => decisionOn(request)
  const how = { ask, flips: true, maxQuestions: 9, others: new Set(['blue']) }
  const texts = Array.from({ length: count }, (_, i) => rowText(i))
  await runRows(rowsOf(piecesOf(texts, 4096), limits), {
    concurrency: 4,
    measure: (row, signal) => measureRow(row, how, signal),
    onRecord: (record) => results.add(record),
  })
  return reportOf(results)
}

function evilReport(): Report {
  const results = new Results()
  const outcome: Outcome = {
    ...{ question: evil, type: 'choice', options: 2, correct: false, confidence: 0.7 },
    ...{ brier: 1, logLoss: 1, labelMass: 0.9, wanted: evil, got: evil },
  }
  const outcomes = [outcome, { ...outcome, question: `${evil}2` }]
  const tokens = { input: 1, cached: 0, image: 1, output: 1 }
  results.add({ line: 1, outcomes, answers: '{}', tokens, latencyMs: 1, modelMs: 1 })
  results.add({ line: 2, refused: evil })
  const models = [{ name: evil, digest: evil, readout: evil }]
  return reportOf(results, { file: evil, models, url: evil, warning: evil })
}

/** After a check that every opened element is closed inside of its parent. */
function tagsAndAttributes(page: string): { tags: string[]; attributes: string[] } {
  const empty = new Set(['meta', '!DOCTYPE'])
  const open: string[] = []
  const seen: string[] = []
  const attributes: RegExpMatchArray[] = []
  for (const [tag, slash, name, inside, own] of page.matchAll(
    /<(\/?)([!A-Za-z][A-Za-z0-9]*)((?:"[^"]*"|[^">])*?)(\/?)>/g,
  )) {
    if (slash) {
      const last = open.pop()
      if (last !== name) throw new Error(`</${name}> closes <${last}>`)
    } else if (!own && !empty.has(name!)) open.push(name!)
    if (!/^(?:\s+[\w-]+(?:="[^"<>]*")?)*\s*$/.test(inside!) && name !== '!DOCTYPE') {
      throw new Error(`attributes of ${tag}`)
    }
    if (!slash) seen.push(name!)
    attributes.push(...inside!.replace(/"[^"]*"/g, '').matchAll(/[\w-]+/g))
  }
  if (open.length > 0) throw new Error(`left open: ${open.join()}`)
  return { tags: seen, attributes: attributes.map(([name]) => name) }
}

t.test('the page has figures, plots and tables, and is well-formed', async (t) => {
  const page = reportPage(await reportOfRows(60))
  const { tags } = tagsAndAttributes(page)
  // Reliability and coverage of all answers and three types, two curves, a matrix, the latency.
  t.equal(tags.filter((tag) => tag === 'svg').length, 12)
  for (const part of [
    'Reliability',
    'By question',
    'Most frequent mistakes',
    'If only the surest answers are taken',
    'best accuracy',
    'mean of the options (macro)',
    'Surest wrong answers',
    'Catch-all options',
    'Latency',
    'flips',
  ]) {
    t.match(page, part)
  }
  t.match(page, 'prefers-color-scheme: dark')
  t.notMatch(page, /NaN|undefined|Infinity|\[object/)
})

t.test('the page needs no network and runs nothing', async (t) => {
  for (const report of [await reportOfRows(10), evilReport()]) {
    const page = reportPage(report)
    const { tags, attributes } = tagsAndAttributes(page)
    const active = ['script', 'link', 'img', 'iframe', 'object', 'embed', 'use', 'image']
    const found = tags.filter((tag) => active.includes(tag))
    t.strictSame(found, [])
    t.ok(attributes.includes('viewBox'))
    const loading = /^(?:src|srcset|href|action|data|on\w+)$/i
    const loaded = attributes.filter((name) => loading.test(name))
    t.strictSame(loaded, [])
    t.notMatch(page, /@import|url\(/i)
  }
})

t.test('text of the data stays text on the page', async (t) => {
  const page = reportPage(evilReport())
  tagsAndAttributes(page)
  t.notMatch(page, '<script')
  t.match(
    page,
    '&lt;/td&gt;&lt;script src=&quot;https://evil.example/x.js&quot;&gt;&#39;&amp;&quot;',
  )
  t.notMatch(page, /[\u0000\u001b]/)
})

t.test('text of the data does not move the cursor of a terminal', async (t) => {
  t.notMatch(evaluationText(evilReport()), /[\u0000\u001b\u202e]/)
})

t.test('the table shows the figures', async (t) => {
  const text = evaluationText(await reportOfRows(60))
  t.match(text, /^rows\.jsonl: 60 of 60 rows, 180 answers\nby made-up \(letters@1\)\n/)
  t.match(text, /^ +answers +accuracy .*ECE .*flips +shift\nall +180 .*\nnoul +60 /m)
  t.match(text, /^By question\n/m)
  t.match(text, /^Nouls: yes from .*\n.*AUC +avg\. prec\.\n/m)
  t.match(text, /^Catch-all options: yes where .*\n.*AUC +avg\. prec\.\n +\d+\.\d % /m)
  t.match(
    text,
    /^Scores: the expected level is off by \d.* half a level at most in \d+\.\d %; ranked/m,
  )
  t.match(text, /^Reliability\nconfidence +answers +accuracy +95 %\n\.\d+ +\d+ +\.\d+ +\.\d+–/m)
  t.match(text, /^If only the surest answers are taken\n +taken +confidence from +wrong\n +\d/m)
  t.match(text, /^Thresholds of sure, on these rows\n.*\none half +\.5 +\./m)
  t.match(text, /^Options of colour\n.*\n\w+ +\d+ +\d+ [^]*^mean \(macro\) +\./m)
  t.match(text, /^Confusion of colour: right ones .*\n +\w+ /m)
  t.match(text, /^Surest wrong answers\nline +question .*\n\d+ /m)
  t.match(text, /^30 decisions\/s, 90 answers\/s in 2\.0 s, 4 at the same time$/m)
  t.match(text, /^1,200 tokens in \(40\.0 % cached\)|^600 tokens in \(40\.0 % cached\)/m)
  t.notMatch(text, /NaN|undefined/)
})

t.test('without measurements, as after an early Ctrl-C, the figures are empty', async (t) => {
  const report = { ...reportOf(new Results()), whole: false }
  const page = reportPage(report)
  tagsAndAttributes(page)
  t.match(page, 'Ended early')
  t.notMatch(page, /NaN|Infinity/)
  t.notMatch(evaluationText(report), /NaN|Infinity/)
  t.equal((JSON.parse(JSON.stringify(report)) as Report).overall.accuracy, null)
})
