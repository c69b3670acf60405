/**
 * The tables of guides that are made from what they are about, by their words on the command line.
 *
 * @module
 */

import type { Written } from '../markdown.js'
import { benchTable } from './bench.js'
import { labelTable } from './labels.js'
import { settingsTable } from './settings.js'

interface Table extends Written {
  readonly make: () => string | Promise<string>
}

export const tables = {
  settings: { guide: 'src/config/README.md', command: 'npm run settings', make: settingsTable },
  labels: {
    guide: 'src/prompt/README.md',
    command: 'npm run labels -- --write',
    make: labelTable,
  },
  bench: { guide: 'scripts/bench/README.md', command: 'npm run bench:table', make: benchTable },
} as const satisfies Readonly<Record<string, Table>>
