/** Which version of better-sqlite3 fits which Node. */
import t from 'tap'
import { betterSqliteFor } from '../../src/accounts/store/sqlite.js'
import { project } from '../../scripts/package/manifests.js'

t.test('a version that would crash the process is replaced by one that does not', async (t) => {
  const rows = [
    ['12.11.1', { node: '20.19.0', napi: '9' }, undefined],
    ['13.2.0', { node: '20.20.2', napi: '9' }, '12.11.1'],
    ['12.11.1', { node: '22.23.3', napi: '10' }, undefined],
    ['13.2.0', { node: '22.23.3', napi: '10' }, undefined],
    ['13.2.0', { node: '22.12.0', napi: '9' }, '12.11.1'],
    ['12.11.1', { node: '24.21.0', napi: '10' }, '13.2.0'],
    ['12.11.1', { node: '26.10.0', napi: '10' }, '13.2.0'],
    ['13.2.0', { node: '26.10.0', napi: '10' }, undefined],
  ] as const
  for (const [version, versions, instead] of rows) {
    const name = `better-sqlite3 ${version}, Node ${versions.node}`
    t.equal(betterSqliteFor(version, versions), instead, name)
    if (instead === undefined) continue
    t.equal(betterSqliteFor(instead, versions), undefined, 'which fits')
    t.match(project.peerDependencies['better-sqlite3'], instead, 'and may be installed')
  }
})
