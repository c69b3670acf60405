/**
 * The report of `npm run update-llama`.
 *
 * @module
 */

import { pin } from '../build/pin.js'
import { privateHeaders } from '../build/private-headers.js'
import type { Tree } from './workshop.js'

export interface Result {
  readonly name: string
  readonly verdict: 'passes' | 'refused' | 'not run'
  /** The observation; of a failure, the reason. */
  readonly lines: readonly string[]
}

/** In Markdown. */
export function reportOf(tree: Tree, results: readonly Result[]): string {
  const refused = results.filter(({ verdict }) => verdict !== 'passes')
  const changed = tree.isChanged ? ', with changes that are not committed' : ''
  return [
    `# ${tree.source}: ${refused.length === 0 ? 'passes' : 'refused'}`,
    `Commit ${tree.commit}${changed}. The pin is ${pin.commit}, of ${pin.package}.`,
    ...results.map(({ name, verdict, lines }) =>
      [
        `- **${verdict}**: ${name}`,
        ...lines.map((line) => `  - \`${line.replaceAll('`', "'")}\``),
      ].join('\n'),
    ),
    refused.length === 0 ? pinText(tree) : adviceText(refused),
    '',
  ].join('\n\n')
}

function pinText(tree: Tree): string {
  if (tree.commit === pin.commit) return 'It is the pinned one.'
  const headers = [...privateHeaders(tree.dir)].map(([path, hash]) => `  '${path}': '${hash}',`)
  return [
    'For scripts/build/pin.ts:',
    '```ts',
    ...(tree.package === undefined
      ? ['  // A package of npm that carries this commit, and its integrity.']
      : []),
    `  commit: '${tree.commit}',`,
    ...(tree.package === undefined
      ? []
      : [`  package: '${tree.package}',`, `  integrity: '${tree.integrity}',`]),
    '',
    ...headers,
    '```',
  ].join('\n')
}

function adviceText(refused: readonly Result[]): string {
  const headers = refused.some(({ lines }) => lines.some((line) => line.startsWith('ggml/src/')))
  return headers
    ? 'Read what has changed in the headers, then try again with `--accept-headers`.'
    : 'The pin stays.'
}
