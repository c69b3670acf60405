/** Figures by which the default model is judged. */
import t from 'tap'
import { auroc, expectedError, median } from '../../scripts/train/check/figures.js'

t.test('AUROC is the share of pairs in the right order, ties by half', async (t) => {
  const scores = (positives: number[], negatives: number[]) => [
    ...positives.map((score) => ({ score, positive: true })),
    ...negatives.map((score) => ({ score, positive: false })),
  ]
  t.equal(auroc(scores([3, 4], [1, 2])), 1)
  t.equal(auroc(scores([1, 2], [3, 4])), 0)
  t.equal(auroc(scores([1, 3], [2])), 0.5)
  t.equal(auroc(scores([5, 5], [5, 5, 5])), 0.5)
  t.equal(auroc(scores([2, 4], [2, 3, 1])), 4.5 / 6)
  t.ok(Number.isNaN(auroc(scores([1], []))))
})

t.test('the calibration error weighs the gap of each bin by its answers', async (t) => {
  const answers = (confidence: number, right: number, wrong: number) => [
    ...new Array(right).fill({ confidence, correct: true }),
    ...new Array(wrong).fill({ confidence, correct: false }),
  ]
  t.equal(expectedError(answers(0.75, 3, 1)), 0)
  t.equal(expectedError(answers(1, 2, 0)), 0)
  t.ok(Math.abs(expectedError([...answers(0.95, 0, 1), ...answers(0.55, 1, 0)]) - 0.7) < 1e-12)
})

t.test('median', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 2, 3]), 2.5)
  t.ok(Number.isNaN(median([])))
})
