/**
 * Prints how many tokens of new states the addon in this tree evaluates in a second, in the fastest of
 * many rounds: other programs make a round slower, and none faster.
 *
 * @module
 */

import { openEngine } from '../../src/engine/engine.js'
import { ensureModel } from '../make-model/ensure.js'

const [rounds, words] = [60, 400]

const modelPath = await ensureModel('fixture-dense-qwen', { type: 'Q8_0' })
const engine = await openEngine({ modelPath, contextTokens: 4096, hostCacheBytes: 0 })
let fastest = 0
for (let round = 0; round < rounds; round++) {
  const text = Array.from({ length: words }, (_, i) => `${round}${(i * 7919) % 1000}`).join(' ')
  const startMs = performance.now()
  const { prefixTokens } = await engine.score({
    prefix: [{ text, trusted: false }],
    suffixes: [{ parts: [{ text: 'So?', trusted: false }], candidates: Int32Array.of(1, 2) }],
  })
  fastest = Math.max(fastest, (1000 * prefixTokens) / (performance.now() - startMs))
}
console.log(fastest.toFixed(1))
await engine.close()
