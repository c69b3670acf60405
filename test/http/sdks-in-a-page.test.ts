/**
 * Existing clients, unmodified, in a page of another origin: the browser sends a preflight for
 * their headers.
 */
import t from 'tap'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { createCors } from '../../src/http/access/cors.js'
import { openBrowser, skip } from '../helpers/browser.js'
import { withFake } from '../helpers/stub.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

const source = `
  import { choice, noul, score, TypeSafeClient } from '@typesafe-ai/sdk'
  import { createTypeSafeAi } from '@ai-sdk/typesafe-ai'
  import { OpenRouter } from '@openrouter/sdk'

  // Long enough for clients that compress.
  const state = 'I was charged twice. '.repeat(60)
  const failureOf = (call) => call.then(() => undefined, (error) => error.status ?? error.statusCode)

  export async function typesafe(url, apiKey) {
    const client = new TypeSafeClient({ baseURL: url, apiKey, dangerouslyAllowBrowser: true })
    const questions = { q: noul('?'), c: choice('?', { a: null, b: 'x' }), s: score('?', ['l', 'h']) }
    const headers = { 'x-request-id': 'mine', 'TypeSafe-Danger-Zone-Images': 'true' }
    const { data, requestId } = await client.systemOne({ state, questions }, { headers }).withResponse()
    const models = await client.models.list()
    const wrong = await failureOf(client.systemOne({ state, questions, model: 'x' }))
    return { types: Object.values(data.answers).map(({ type }) => type), requestId, models, wrong }
  }

  export async function vercel(url, apiKey) {
    const model = createTypeSafeAi({ baseURL: url + '/v1', apiKey }).evaluationModel('jev-latest')
    const questions = { q: { type: 'boolean', instructions: '?' } }
    const { answers, response } = await model.doEvaluate({ state, questions })
    return { type: answers.q.type, model: response.modelId, id: response.headers['x-request-id'] }
  }

  export async function openrouter(url, apiKey) {
    const client = new OpenRouter({ serverURL: url + '/v1', apiKey, httpReferer: 'https://a.example' })
    const questions = { q: { type: 'noul', instructions: '?' } }
    const ask = (model) => client.systemOne.create({ decisionsRequest: { model, state, questions } })
    const { answers, model } = await ask('jev-latest')
    return { type: answers.q.type, model, wrong: await failureOf(ask('x')) }
  }

  export async function pictures(url, apiKey) {
    const canvas = new OffscreenCanvas(60, 30)
    canvas.getContext('2d').fillRect(0, 0, 30, 30)
    const photo = await canvas.convertToBlob({ type: 'image/png' })
    const questions = { q: { type: 'noul', instructions: '?' } }
    const assets = { 'photo-1': { type: 'image', format: 'png', part: 'file-1' } }
    const json = JSON.stringify({ state: { photo: 'photo-1' }, questions, assets })
    const form = new FormData()
    form.append('request', new Blob([json], { type: 'application/json' }))
    form.append('file-1', photo, 'photo.png')
    const written = new Response(form)
    const headers = {
      authorization: 'Bearer ' + apiKey,
      'content-type': written.headers.get('content-type'),
      'content-encoding': 'gzip',
    }
    const body = await new Response(
      written.body.pipeThrough(new CompressionStream('gzip')),
    ).arrayBuffer()
    const reply = await fetch(url + '/v1/systemone', { method: 'POST', headers, body })
    return { status: reply.status, usage: (await reply.json()).usage }
  }
`

/** All clients as one script, whose exports are `sdks`. */
async function bundled(): Promise<string> {
  // A file that does not exist, in the folder from which packages are found.
  const entry = `${root}sdks.js`
  const plugin = {
    name: 'sdks',
    resolveId: (id: string) => (id === entry ? id : undefined),
    load: (id: string) => (id === entry ? source : undefined),
  }
  const lib = { entry, formats: ['iife' as const], name: 'sdks' }
  const built = await build({
    ...{ root, configFile: false, logLevel: 'warn', publicDir: false, plugins: [plugin] },
    build: { lib, write: false, minify: false, reportCompressedSize: false },
  })
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }]
  return output[0].code
}

t.test('clients in a page of another origin', { skip }, async (t) => {
  const script = await bundled()
  const pages = createServer((request, response) => {
    const isScript = request.url === '/sdks.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : '<!doctype html><script src="/sdks.js"></script>')
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  t.teardown(() => pages.close())
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`

  const browser = await openBrowser(t)
  await withFake({ vision: true, cors: createCors(origin) }, async ({ url, key }) => {
    const page = await browser.newPage()
    await page.goto(origin)
    const call = (name: string, target = url) => inPage(page, name, target, key)
    t.match(await call('typesafe'), {
      ...{ types: ['noul', 'choice', 'score'], requestId: 'mine', wrong: 400 },
      models: [{ name: 'fake' }],
    })
    t.match(await call('vercel'), { type: 'boolean', model: 'fake', id: /^req_/ })
    t.match(await call('openrouter'), { type: 'noul', model: 'fake', wrong: 400 })
    t.match(await call('pictures'), { status: 200, usage: { image_tokens: 6 } })
    // The address of yet another origin, which the server does not admit.
    await page.goto(origin.replace('127.0.0.1', 'localhost'))
    await t.rejects(call('vercel'), 'a page of no such origin reads nothing')
  })
})

/** Runs one of the functions of the script. */
const inPage = (page: Page, name: string, url: string, key: string): Promise<object> =>
  page.evaluate(`sdks[${JSON.stringify(name)}](${JSON.stringify(url)}, ${JSON.stringify(key)})`)
