/** Attacks in a real browser: hostile pages beside the console, and hostile names in it. */
import { consolePages, consoleTest } from '../helpers/console.js'
import { withHttpServer } from '../helpers/http-server.js'

interface Workspaces {
  readonly workspaces: readonly { readonly id: number; readonly name: string }[]
}

consoleTest(
  'a page of another origin on the same host neither acts, nor reads, nor frames',
  {},
  async (t, console) => {
    // The browser's reports of its refusals.
    console.expect(/^request to |^console: /)
    await console.signInFirst()
    const target = new URL(console.server.url('/')).origin
    // Another port of the same host: the browser sends it the console's cookie.
    const serve = (_: unknown, response: { end(text: string): void }) =>
      response.end('<!doctype html><title>evil</title><iframe name="hole"></iframe>')
    await withHttpServer(serve, async ({ url }) => {
      const evil = await console.context.newPage()
      await evil.goto(url.replace('127.0.0.1', new URL(target).hostname))
      const outcomes = await evil.evaluate<string[]>(`(async () => {
        const say = (promise) => promise.then((reply) => reply.type, () => 'refused')
        const root = ${JSON.stringify(target)} + '/admin/v1'
        const act = (path, init) => say(fetch(root + path, { credentials: 'include', ...init }))
        const body = '{"name":"evil"}'
        const json = { 'content-type': 'application/json' }
        return [
          await act('/workspaces', {}),
          await act('/workspaces', { method: 'POST', body, headers: json }),
          await act('/keys/1', { method: 'DELETE' }),
          await act('/workspaces', { method: 'POST', body, mode: 'no-cors' }),
        ]
      })()`)
      t.strictSame(outcomes, ['refused', 'refused', 'refused', 'refused'])
      // A form whose text is JSON, which needs no preflight.
      await evil.evaluate(`{
        const form = document.createElement('form')
        Object.assign(form, { method: 'post', enctype: 'text/plain', target: 'hole' })
        form.action = ${JSON.stringify(`${target}/admin/v1/workspaces`)}
        const field = document.createElement('input')
        Object.assign(field, { name: '{"name":"evil","x":"', value: '"}' })
        form.append(field)
        document.body.append(form)
        form.submit()
      }`)
      await evil.evaluate(`new Promise((resolve) => {
        const frame = document.createElement('iframe')
        frame.name = 'framed'
        frame.src = ${JSON.stringify(`${target}/console`)}
        frame.onload = resolve
        document.body.append(frame)
      })`)
      const framed = evil.frame('framed')!
      t.match(framed.url(), /^chrome-error:/, 'the console is in no frame')
      t.equal(await framed.locator('#console').count(), 0)
      await evil.close()
    })
    const { workspaces } = await console.admin<Workspaces>('GET', '/workspaces')
    const names = workspaces.map(({ name }) => name)
    t.strictSame(names, ['default'])
    const { keys } = await console.admin<{ keys: { state: string }[] }>('GET', '/keys')
    t.match(keys, [{ state: 'active' }])
  },
)

const script = '"><img src=x onerror="window.stolen=1"><script>window.stolen=1</script>'

consoleTest('a name or label that is a script is text on every page', {}, async (t, console) => {
  const { page } = console
  await console.signInFirst()
  const { id } = await console.admin<{ id: number }>('POST', '/workspaces', { name: script })
  const body = { workspace_id: id, name: script, models: [script, 'oi-small'] }
  const { secret } = await console.admin<{ secret: string }>('POST', '/keys', body)
  await console.admin('PUT', '/prices', { model: script, input: 1 })
  await console.admin('POST', `/workspaces/${id}/credit`, { amount: 5_000_000 })
  t.equal(await console.ask(secret), 200)
  await console.admin('PATCH', `/workspaces/${id}`, { name: `${script}2` })
  /** How often the text appears. */
  const look = async (place: string) => {
    const [made, stolen, texts] = await page.evaluate<[number, unknown, number]>(`[
      document.querySelectorAll('img, iframe, script:not([src])').length, window.stolen,
      (document.body.innerText + [...document.querySelectorAll('[value], [title], option')]
        .map((one) => one.value + one.title + one.textContent)).split('onerror').length - 1,
    ]`)
    t.equal(made, 0, `${place}: nothing is made of it`)
    t.equal(stolen, undefined, place)
    return texts
  }
  // Its keys were loaded before these existed.
  await page.reload()
  const shown = ['keys', 'workspaces', 'usage?by=key', 'audit', `workspaces/${id}`]
  const pages = consolePages.map(([address]) => address)
  for (const address of [...pages, `workspaces/${id}`, 'usage?by=workspace']) {
    await page.goto(console.server.url(`/console#/${address}`))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await console.settle()
    const texts = await look(address)
    if (shown.includes(address)) t.ok(texts > 0, `${address} shows it`)
  }
  await page.locator('.chart svg').hover()
  await look('a value of the chart')

  const criteria = { [script]: script, other: '' }
  const questions = { [script]: { type: 'choice', instructions: script, criteria } }
  await console.open('playground', 'Playground')
  await page.getByLabel('State, a text').fill(script)
  const part = page.getByRole('region', { name: 'Questions' })
  await part.getByText('JSON', { exact: true }).click()
  await page.getByLabel('Questions, JSON').fill(JSON.stringify(questions))
  await page.keyboard.press('Control+Enter')
  await page.locator('.verdict').waitFor()
  t.ok((await look('an answer')) > 0)
  await part.getByText('Form', { exact: true }).click()
  await look('the form of a question')
  await page.getByRole('button', { name: 'View code' }).click()
  await page.getByRole('dialog').waitFor()
  await look('the code')
  await page.keyboard.press('Escape')

  await console.open('compare', 'Compare')
  const lines = `${JSON.stringify({ state: script, questions, expected: { [script]: script } })}\n`
  await page.getByLabel('File of cases').setInputFiles({
    name: `${script.replaceAll('/', '')}.jsonl`,
    mimeType: 'application/x-ndjson',
    buffer: Buffer.from(lines),
  })
  await page.getByLabel('State of case 1').waitFor()
  await page.getByRole('button', { name: 'Run 2 requests' }).click()
  await page.locator('.cell-verdict').first().waitFor()
  t.ok((await look('compare')) > 0)
})
