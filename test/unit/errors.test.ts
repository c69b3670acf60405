import t from 'tap'
import { errorTable, OiError } from '../../src/errors.js'
import { readGuide } from '../helpers/guides.js'

t.test('every code has a status between 400 and 599', async (t) => {
  for (const [code, entry] of Object.entries(errorTable)) {
    t.ok(entry.status >= 400 && entry.status < 600, code)
  }
})

t.test('an error carries its code, place and cause', async (t) => {
  const cause = new Error('why')
  const error = new OiError('ERR_BODY_INVALID', 'state: expected a value', {
    param: 'state',
    cause,
  })
  t.match(error, { name: 'OiError', code: 'ERR_BODY_INVALID', param: 'state', cause })
})

t.test(
  'the guide of errors has every code once, with its status and code on the wire',
  async (t) => {
    const rows = [
      ...readGuide('src/errors.md').matchAll(/^\| `(ERR_\w+)` \|(?: (\d+) `(\w+)` \|)?/gm),
    ]
    t.strictSame(rows.map(([, code]) => code).sort(), Object.keys(errorTable).sort())
    for (const [, code, status, wire] of rows) {
      const entry = errorTable[code as keyof typeof errorTable]
      if (status === undefined) t.ok(entry.status === 500 || code === 'ERR_ABORTED', code!)
      else t.strictSame({ status: Number(status), wire }, entry, code!)
    }
  },
)
