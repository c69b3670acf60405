/**
 * The console in a real browser with a real server: Debian's Chromium, driven by Playwright.
 *
 * Errors in the browser's console and requests to other hosts are recorded throughout. At the end
 * of a test only the expected ones are allowed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { post } from './asking.js'
import { openBrowser, skip } from './browser.js'
import { ServerProcess } from './server-process.js'

/** Each page's address after `#/`, and its heading. */
export const consolePages = [
  ['overview', 'Overview'],
  ['keys', 'API keys'],
  ['workspaces', 'Workspaces'],
  ['workspaces/1', 'default'],
  ['usage?by=key', 'Usage'],
  ['playground', 'Playground'],
  ['compare', 'Compare'],
  ['models', 'Models'],
  ['models/oi-small', 'oi-small'],
  ['settings', 'Settings'],
  ['audit', 'Audit'],
] as const

const password = 'correct horse battery'

interface ConsoleOptions {
  /** Flags of `oi serve`. */
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Called with the data folder before the server starts. */
  readonly prepare?: (dataDir: string) => void
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
}

/** A test of the console in a browser, skipped if there is no browser. */
export function consoleTest(
  name: string,
  options: ConsoleOptions | (() => Promise<ConsoleOptions>),
  run: (t: Test, console: ConsoleTest) => Promise<void>,
): void {
  t.test(name, { skip }, async (t) => {
    const chosen = typeof options === 'function' ? await options() : options
    const console = await ConsoleTest.start(t, chosen)
    await run(t, console)
    t.strictSame(console.complaints, [], 'no error in the browser, and no other host')
  })
}

export class ConsoleTest {
  server: ServerProcess
  readonly page: Page
  readonly context: BrowserContext
  readonly dataDir: string
  /** Path and token of the one-time link that the server printed. */
  readonly firstLink: string
  readonly #complaints: string[] = []
  readonly #expected: RegExp[] = []

  /** Starts a server on an empty data folder, and a browser; both end with the test. */
  static async start(t: Test, options: ConsoleOptions = {}): Promise<ConsoleTest> {
    const dataDir = mkdtempSync(join(tmpdir(), 'oi-console-'))
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    options.prepare?.(dataDir)
    const server = await ServerProcess.start(t, {
      model: 'real',
      dataDir,
      args: options.args ?? [],
      environment: options.environment ?? {},
      stdio: ['ignore', 'pipe', 'pipe'],
      onStart: (server) => {
        server.read(server.child.stdout!)
        server.read(server.child.stderr!)
      },
    })
    const [link] = /\/console#first=[\w-]+/.exec(server.said) ?? []
    if (link === undefined) throw new Error(`No link of the first start in: ${server.said}`)
    const browser = await openBrowser(t)
    const context = await browser.newContext({
      viewport: options.viewport ?? { width: 1280, height: 900 },
      colorScheme: options.colorScheme ?? 'light',
      reducedMotion: 'reduce',
    })
    return new ConsoleTest(server, context, await context.newPage(), link, dataDir)
  }

  private constructor(
    server: ServerProcess,
    context: BrowserContext,
    page: Page,
    link: string,
    dataDir: string,
  ) {
    this.dataDir = dataDir
    this.server = server
    this.context = context
    this.page = page
    this.firstLink = link
    page.setDefaultTimeout(60_000)
    const origin = new URL(server.url('/')).origin
    context.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(`console: ${message.text()}`)
    })
    context.on('weberror', (error) => this.#complaints.push(`thrown: ${String(error.error())}`))
    context.on('request', (request) => {
      const { protocol, origin: other } = new URL(request.url())
      if (['data:', 'blob:'].includes(protocol) || other === origin) return
      this.#complaints.push(`request to ${request.url()}`)
    })
  }

  get complaints(): readonly string[] {
    return this.#complaints.filter((text) => !this.#expected.some((one) => one.test(text)))
  }

  /** Names an expected complaint of the browser: a refusal, a server that has stopped. */
  expect(complaint: RegExp): void {
    this.#expected.push(complaint)
  }

  /** Stops the server, calls `use`, and starts the server on the same address and data. */
  async restart(t: Test, use: () => Promise<void> = async () => {}): Promise<void> {
    await this.server.stop()
    await use()
    const port = Number(new URL(this.server.url('/')).port)
    this.server = await ServerProcess.start(t, { model: 'real', dataDir: this.dataDir, port })
  }

  /** Enters the password of {@link signInFirst} in the sign-in form. */
  async signIn(text = password): Promise<void> {
    await this.page.getByLabel('Password').fill(text)
    await this.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  /** Ends the session on the server, as if it had expired. */
  async endSession(): Promise<void> {
    await this.admin('DELETE', '/session')
  }

  /** Signs in through the link of the first start. */
  async signInFirst(): Promise<void> {
    await this.page.goto(this.server.url(this.firstLink))
    await this.page.getByLabel('New password').fill(password)
    await this.page.getByLabel('Repeat the password').fill(password)
    await this.page.getByRole('button', { name: 'Set password and sign in' }).click()
    await this.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  }

  /** Opens a page by its address after `#/`, and waits for its heading. */
  async open(page: string, heading: string): Promise<void> {
    await this.page.goto(this.server.url(`/console#/${page}`))
    await this.page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }

  /** Waits until the page has loaded everything. */
  async settle(): Promise<void> {
    await this.page.waitForLoadState('networkidle')
    await this.page.locator('.skeleton').first().waitFor({ state: 'detached' })
  }

  /** A call of the admin API with the page's own session. @throws If it is refused. */
  async admin<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await this.page.evaluate(callAdmin, { method, path, body })) as T
  }

  /** Sends a request with a key, as an application would. @returns Its status. */
  async ask(key: string, question: object = { type: 'noul', instructions: 'Is it late?' }) {
    const body = { state: 'It is 23:59.', questions: { late: question } }
    const reply = await post({ url: this.server.url(''), key }, body)
    await reply.text()
    return reply.status
  }
}

/** Runs in the page. */
async function callAdmin(call: { method: string; path: string; body?: unknown }): Promise<unknown> {
  const root = '/admin/v1'
  const { localStorage } = globalThis as unknown as {
    localStorage: { getItem(name: string): string | null }
  }
  const token = localStorage.getItem('oi-session') ?? ''
  const reply = await fetch(root + call.path, {
    method: call.method,
    headers: { 'content-type': 'application/json', 'x-oi-csrf': token },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${call.method} ${call.path}: ${reply.status} ${text}`)
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}
