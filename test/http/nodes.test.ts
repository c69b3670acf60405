/** Several servers behind HAProxy, nginx and Caddy with the files that operators copy. */
import t from 'tap'
import { expectNextNode, expectOneNodeAState } from '../helpers/nodes.js'
import { findProxy } from '../helpers/proxies.js'

for (const name of ['haproxy', 'nginx', 'caddy'] as const) {
  const skip = findProxy(name) === undefined && `${name} is not installed`
  t.test(
    `${name}: requests about a state go to one node, and a node stops without a failed request`,
    { skip },
    (t) => expectOneNodeAState(t, name),
  )
}

t.test(
  'nginx: a request whose connection the node has just closed goes to the next node',
  { skip: findProxy('nginx') === undefined && 'nginx is not installed' },
  (t) => expectNextNode(t, 'nginx'),
)
