/** A report of measurements, with invented facts about the run. */
import type { Report, ReportHead } from '../../src/evaluate/report.js'
import type { Results } from '../../src/evaluate/results.js'

const reportHead: ReportHead = {
  file: 'rows.jsonl',
  digest: `sha256:${'ab'.repeat(32)}`,
  models: [{ name: 'made-up', digest: `sha256:${'cd'.repeat(32)}`, readout: 'letters@1' }],
  reversed: true,
  concurrency: 4,
  date: '2025-01-02T03:04:05.678Z',
  version: '0.1.0',
}

export function reportOf(results: Results, about: Partial<ReportHead> = {}): Report {
  return results.report({
    about: { ...reportHead, ...about },
    rowsInFile: 60,
    whole: true,
    elapsedMs: 2000,
  })
}
