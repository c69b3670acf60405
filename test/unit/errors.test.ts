import t from 'tap'
import { errorTable, OiError } from '../../src/errors.js'

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
