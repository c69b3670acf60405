/**
 * Whether the server of this container answers: `node probe.mjs /readyz`. Exit code 0 for status
 * 200, otherwise 1 with the reason. It finds the server by the same variables as the server itself;
 * flags and settings files are unknown here.
 */

import http from 'node:http'
import https from 'node:https'

const { OI_HOST = '127.0.0.1', OI_PORT = '8080', OI_TLS_CERT = '' } = process.env
const everywhere = { '0.0.0.0': '127.0.0.1', '::': '::1' }
const protocol = OI_TLS_CERT === '' ? http : https

const request = protocol.get({
  host: everywhere[OI_HOST] ?? OI_HOST,
  port: OI_PORT,
  path: process.argv[2] ?? '/healthz',
  // It is this container's own server, under a name that its certificate lacks.
  rejectUnauthorized: false,
  timeout: 5000,
})
request.on('timeout', () => request.destroy(new Error('no answer within 5 s')))
request.on('error', (error) => end(error.message))
request.on('response', (response) => {
  response.resume()
  if (response.statusCode === 200) process.exit(0)
  end(`status ${response.statusCode}`)
})

function end(reason) {
  console.error(reason)
  process.exit(1)
}
