/** Client addresses: spelled in several ways, behind proxies that are trusted or not. */
import t from 'tap'
import {
  createTrustedProxies,
  networkOf,
  plainAddress,
} from '../../src/http/access/client-address.js'

t.test('an IPv4 address in IPv6 form is the IPv4 address', async (t) => {
  for (const [address, plain] of [
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:0001', '10.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:0a00:0001', '10.0.0.1'],
    ['fd00::ffff:1:2', 'fd00::ffff:1:2'],
    ['::1', '::1'],
  ] as const) {
    t.equal(plainAddress(address), plain)
  }
})

t.test('an IPv6 address counts as its network, however it is spelled', async (t) => {
  for (const address of [
    '2001:db8:0:1::5',
    '2001:0db8:0000:0001:ffff:ffff:ffff:ffff',
    '2001:DB8::1:0:0:0:9',
  ]) {
    t.equal(networkOf(address), '2001:db8:0:1::/64')
  }
  t.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  t.equal(networkOf('::ffff:10.0.0.1'), '10.0.0.1')
})

t.test('X-Forwarded-For is read from its end, and only from trusted proxies', async (t) => {
  const proxies = createTrustedProxies('10.0.0.0/8, 192.168.1.1,fd00::/8')
  for (const [address, forwarded, client] of [
    ['203.0.113.9', '198.51.100.7', '203.0.113.9'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['::ffff:10.1.2.3', '1.1.1.1, 198.51.100.7', '198.51.100.7'],
    ['10.1.2.3', '1.1.1.1, 198.51.100.7, 10.9.9.9, 192.168.1.1', '198.51.100.7'],
    ['10.1.2.3', '198.51.100.7:4711', '198.51.100.7'],
    ['fd00::1', '1.1.1.1, [2001:db8::5]:443', '2001:db8::5'],
    ['10.1.2.3', '198.51.100.7, unknown', '10.1.2.3'],
    ['10.1.2.3', '10.0.0.4, 10.0.0.5', '10.0.0.4'],
  ] as const) {
    t.equal(proxies.clientOf(address, forwarded), client, `${address} | ${forwarded}`)
  }
  t.equal(createTrustedProxies('').clientOf('127.0.0.1', '1.2.3.4'), '127.0.0.1')
})

t.test('a malformed address is refused, naming the setting', async (t) => {
  t.throws(() => createTrustedProxies('300.1.1.1'), {
    code: 'ERR_CONFIG',
    message: /^--trusted-proxies: /,
  })
})
