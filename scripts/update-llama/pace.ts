/**
 * Prints how many tokens of new states the addon in this tree evaluates in a second.
 *
 * @module
 */

import { openEngine } from '../../src/engine/engine.js'
import { ensureModel } from '../make-model/ensure.js'

const [rounds, words] = [12, 400]

const modelPath = await ensureModel('fixture-dense-qwen', { type: 'Q8_0' })
const engine = await openEngine({ modelPath, contextTokens: 4096, hostCacheBytes: 0 })
let [tokens, startMs] = [0, 0]
for (let round = 0; round <= rounds; round++) {
  // The first one warms up buffers and weights for the others.
  if (round === 1) [tokens, startMs] = [0, performance.now()]
  const text = Array.from({ length: words }, (_, i) => `${round}${(i * 7919) % 1000}`).join(' ')
  const { prefixTokens } = await engine.score({
    prefix: [{ text, trusted: false }],
    suffixes: [{ parts: [{ text: 'So?', trusted: false }], candidates: Int32Array.of(1, 2) }],
  })
  tokens += prefixTokens
}
console.log(((1000 * tokens) / (performance.now() - startMs)).toFixed(1))
await engine.close()
