/**
 * A server run by a user id that the system does not know, as in containers, and without HOME.
 * Every booking was once lost there, because the store looks into the user's folders.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { audit } from '../helpers/audit.js'
import { dataFolder, firstKey } from '../helpers/data-folder.js'
import { ServerProcess } from '../helpers/server-process.js'
import { post } from '../helpers/asking.js'
import { about } from '../helpers/batch.js'

const uid = '54321'
const skip =
  process.platform === 'linux' && process.getuid?.() === 0 ? false : 'only root of Linux may'

t.test('answers for a user without a home are booked, without complaints', { skip }, async (t) => {
  const dataDir = dataFolder(t)
  const { secret: key } = firstKey(dataDir)
  spawnSync('chown', ['-R', uid, dirname(dataDir)])
  const server = await ServerProcess.start(t, {
    dataDir,
    through: ['setpriv', '--reuid', uid, '--clear-groups', 'env', '-u', 'HOME'],
  })
  const reply = await post({ url: server.url(''), key }, about('It rains.'))
  t.equal(reply.status, 200, await reply.text())
  t.equal(await server.stop(), 0, server.said)
  t.equal(audit(dataDir).usedRequests, 1)
  t.notMatch(server.said, /homedir|cannot be written/)
})
