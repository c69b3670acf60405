/**
 * Sends the example requests of the OpenAPI document to a server.
 */
import type { Test } from 'tap'
import { OpenApi } from './openapi.js'
import type { StubServer } from './stub.js'

/** Reads the document as a client does. */
export async function fetchOpenApi(url: string): Promise<OpenApi> {
  return new OpenApi(await (await fetch(`${url}/openapi.json`)).text())
}

/**
 * Sends every example of a route that the server has, and checks that the reply is as documented:
 * 200, or 400 for an image if the model sees none.
 *
 * @returns The names of the examples, with their operations.
 */
export async function sendExamples(
  t: Test,
  { url, key, handlers }: StubServer,
  modalities: readonly string[],
): Promise<string[]> {
  const openApi = await fetchOpenApi(url)
  const sent: string[] = []
  for (const { path, method, operation } of openApi.operations) {
    const media = operation.requestBody?.content['application/json']
    if (media === undefined || !handlers.paths.includes(path)) continue
    // Every media type of the route's replies.
    const types = Object.keys(openApi.resolve(operation.responses[200]!).content)
    for (const [name, { value, ...example }] of Object.entries(media.examples!)) {
      const needs = example['x-oi-needs']
      const status = needs === undefined || modalities.includes(needs) ? 200 : 400
      for (const accept of types) {
        const reply = await fetch(url + path, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'x-oi-evidence': '1',
            accept,
          },
          body: JSON.stringify(value),
        })
        const what = `${operation.operationId} ${name} ${accept}`
        const { headers } = reply
        const body = await reply.text()
        t.equal(reply.status, status, `${what}: ${body}`)
        if (status === 200) t.match(headers.get('content-type'), accept, what)
        t.equal(openApi.replyErrors(method, path, { status, headers, body }), '', what)
        if (status === 200 && accept === 'application/json') requireAll(t, value, body)
      }
      sent.push(`${operation.operationId} ${name}`)
    }
  }
  return sent
}

/** Every question has its answer, with evidence. */
function requireAll(t: Test, sent: unknown, body: string): void {
  const { questions } = sent as { questions: Record<string, { type: string }> }
  const { answers } = JSON.parse(body) as { answers?: Record<string, { type: string }> }
  if (answers === undefined) return
  for (const [name, { type }] of Object.entries(questions)) {
    t.match(answers[name], { type, evidence: { temperature: 1 } }, name)
  }
}
