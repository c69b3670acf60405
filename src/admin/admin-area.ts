/**
 * The part of the server that API keys do not open: the admin API at `/admin/v1`, and the console
 * at `/console`.
 *
 * @module
 */

import { adminPath } from '../api/admin/operations.js'
import { ServedRequest } from '../http/requests/served-request.js'
import type { Area, Backend } from '../http/handlers-options.js'
import { History } from '../http/metrics/history.js'
import { prefersType } from '../http/reply/accepted.js'
import type { PostContext } from '../http/requests/post-context.js'
import { answerFrom, type Route } from '../http/routes.js'
import { accountsHandlers } from './accounts-handlers.js'
import { ServedAdmin } from './served-admin.js'
import type { AdminHandlers, AdminOptions, AdminServices } from './call.js'
import { ConsoleFiles, consolePath } from './console-files.js'
import { type AreaContext, areaContext } from './context.js'
import { AdminDoor } from './door.js'
import { modelHandlers } from './model-handlers.js'
import { overviewHandlers } from './overview.js'
import { ServedPlayground, playgroundAdmission } from './playground.js'
import { pullHandlers } from './pull-handlers.js'
import { serverHandlers } from './server-handlers.js'
import { sessionHandlers } from './session-handlers.js'
import { Throttle } from './throttle.js'
import { UnderWay } from './under-way.js'
import { usageHandlers } from './usage-handlers.js'
import type { Client, Head } from '../http/contract.js'

const decidePath = `${adminPath}/decide`

export class AdminArea implements Area {
  readonly #context: AreaContext
  readonly #files: ConsoleFiles
  readonly #history: History

  /** @param server - The context of `/v1`. */
  constructor(options: AdminOptions, server: PostContext, backend: Backend) {
    const { mode, tls, accounts, consoleFolder } = options
    const door = new AdminDoor({ mode, tls, accounts, trustedProxies: () => server.trustedProxies })
    const unbooked = { requests: 0, input_tokens: 0, output_tokens: 0, image_tokens: 0 }
    const services: AdminServices = {
      ...options,
      ...{ throttle: new Throttle(), unbooked },
      decider: () => backend.decider(),
      running: () => server.running.size,
      limits: () => {
        const { maxBodyBytes, maxReplyBytes } = server
        return { max_body_bytes: maxBodyBytes, max_reply_bytes: maxReplyBytes }
      },
      pendingBookings: () =>
        server.admission.storeFigures?.() ?? { fileBytes: 0, pendingAnswers: 0 },
    }
    const waiting = () => server.admission.waiting?.() ?? 0
    const engines = () => backend.decider()?.engines() ?? []
    this.#history = new History({ traffic: server.traffic, waiting, engines })
    this.#history.start()
    this.#context = areaContext(server, {
      ...{ door, accounts, handlers: allHandlers(services, this.#history) },
      admission: playgroundAdmission(server.admission, unbooked),
    })
    this.#files = new ConsoleFiles(consoleFolder)
  }

  get hasConsole(): boolean {
    return this.#files.built
  }

  /** One for these paths, or a browser's for `/`. */
  has(path: string, head: Head): boolean {
    if (path === '/') return this.hasConsole && isOfBrowser(head)
    return isUnder(path, '/admin') || isUnder(path, consolePath)
  }

  close(): void {
    this.#history.stop()
  }

  open(head: Head, client: Client, path: string): ServedRequest | undefined {
    if (path === '/') {
      const request = new ServedRequest(head, client, this.#context)
      request.answer({
        status: 302,
        body: '',
        headers: ['location', consolePath, 'vary', 'accept'],
      })
      return undefined
    }
    if (isUnder(path, consolePath)) return this.#openFile(head, client, path)
    const Served =
      path === decidePath && head.getMethod() === 'post' ? ServedPlayground : ServedAdmin
    const request = new Served(head, client, this.#context)
    request.begin(head)
    return request.ended ? undefined : request
  }

  #openFile(head: Head, client: Client, path: string): ServedRequest | undefined {
    const route: Route = () => {
      this.#context.door.originOf(head, client.address())
      return this.#files.content(path)
    }
    const request = new ServedRequest(head, client, this.#context)
    return answerFrom(new Map([[path, route]]), request, head, [path])
  }
}

const isUnder = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`)

const isOfBrowser = (head: Head) =>
  ['get', 'head'].includes(head.getMethod()) &&
  prefersType(head.getHeader('accept'), 'text/html', 'application/json')

function allHandlers(services: AdminServices, history: History): AdminHandlers {
  const underWay = new UnderWay()
  return {
    ...overviewHandlers(history),
    ...sessionHandlers(services),
    ...accountsHandlers(services),
    ...usageHandlers(services),
    ...modelHandlers(services, underWay),
    ...pullHandlers(services, underWay),
    ...serverHandlers(services),
  }
}
