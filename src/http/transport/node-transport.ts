/**
 * The handlers on node:http: all of HTTP/1.1 and HTTP/1.0, with or without TLS.
 *
 * It listens itself, or is given single connections by another transport (`adopt()`).
 *
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { OiError } from '../../errors.js'
import { mostConnections } from './descriptors.js'
import type { Leaving } from './leaving.js'
import { watchHalfClosed } from './half-closed.js'
import { NodeClient, RefusedClient } from './node-client.js'
import { NodeHead, refusalOf } from './node-head.js'
import { ProxyHeaders } from './proxy-protocol.js'
import { contextOf, type TlsContent } from './tls.js'
import { listenError, socketOf } from './transport.js'
import type { Transport, TransportOptions } from './transport.js'
import { noHead, transportError } from './transport-errors.js'
import { Unconfirmed } from './unconfirmed.js'
import type { Listener, Served } from '../contract.js'

/** For the head of a request, from its first byte on. */
const headTimeoutMs = 10_000
const checkMs = 1000
const refusedMs = 2000
const oldClientGraceMs = 2000

interface Active {
  readonly request: IncomingMessage
  readonly client: NodeClient
  readonly served: Served
}

export class NodeTransport implements Transport {
  readonly #listener: Listener
  readonly #leaving: Leaving
  readonly #server: Server
  /** The server that accepts: the same one, unless connections begin with another protocol. */
  readonly #acceptor: NetServer
  readonly #headers: ProxyHeaders | undefined
  /** Each connection, with its replies that are not all written. */
  readonly #sockets = new Map<Duplex, Set<ServerResponse>>()
  /** Connections on which a request is being answered. */
  readonly #active = new Map<Duplex, Active>()
  readonly #unconfirmed = new WeakMap<Duplex, Unconfirmed>()
  readonly #adopted = new WeakSet<Duplex>()
  /** Connections whose last request is refused, or will be: no other reply follows. */
  readonly #refused = new WeakSet<Duplex>()
  #port = 0

  /** Listens. @throws {@link OiError} `ERR_LISTEN`, `ERR_CONFIG`. */
  static async listen(options: TransportOptions): Promise<NodeTransport> {
    const transport = new NodeTransport(options)
    const { host, port } = options
    const acceptor = transport.#acceptor
    await new Promise<void>((resolve, reject) => {
      acceptor.once('error', (cause: NodeJS.ErrnoException) => {
        void listenError(options, cause).then(reject)
      })
      acceptor.listen({ host, port, exclusive: true }, resolve)
    })
    // Further connections are closed at once. Once descriptors run out, libuv may lose the one that
    // it closes them with: they wait then, and the loop spins, until others are gone.
    acceptor.maxConnections = mostConnections()
    // An error of a listening server concerns one connection.
    acceptor.on('error', () => {})
    transport.#port = (acceptor.address() as AddressInfo).port
    return transport
  }

  /** Does not listen: `adopt()` provides the connections. */
  constructor(options: Omit<TransportOptions, 'host' | 'port' | 'flagPrefix'>) {
    const { listener, leaving, tls, idleTimeoutMs, proxyProtocol } = options
    this.#listener = listener
    this.#leaving = leaving
    const settings = {
      keepAliveTimeout: idleTimeoutMs,
      headersTimeout: headTimeoutMs,
      // The handlers limit the time of a request.
      requestTimeout: 0,
      connectionsCheckingInterval: checkMs,
      maxHeaderSize: 16_384,
      requireHostHeader: false,
      noDelay: true,
    }
    this.#server =
      tls === undefined
        ? createServer(settings)
        : createTlsServer({ ...settings, ...contextOf(tls) })
    const server = this.#server as Server & { httpAllowHalfOpen: boolean }
    server.httpAllowHalfOpen = true
    server.on('request', (request, response) => this.#open(request, response, false))
    server.on('checkContinue', (request, response) => this.#open(request, response, true))
    server.on('checkExpectation', (request, response) => {
      const error = new OiError('ERR_EXPECTATION', 'Expect: this server takes 100-continue alone')
      this.#refuse(request, response, error)
    })
    server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
      this.#refuseConnection(socket, new OiError('ERR_METHOD_NOT_ALLOWED', 'This is no proxy'))
    })
    server.on('clientError', (cause: NodeJS.ErrnoException, socket) => {
      this.#clientError(cause, socket)
    })
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#watch(socket)
    })
    this.#headers = proxyProtocol ? new ProxyHeaders() : undefined
    this.#acceptor = this.#headers === undefined ? server : this.#acceptWithHeaders(this.#headers)
    // Otherwise these checks begin with listening; heads that do not come must time out.
    if (this.#acceptor !== server || options.tls === undefined) this.#beginChecks()
  }

  get port(): number {
    return this.#port
  }

  /** Serves a connection whose first bytes another transport has read. */
  adopt(fd: number, bytes: Buffer): void {
    const socket = socketOf(fd)
    socket.unshift(bytes)
    this.#adopted.add(socket)
    this.#server.emit('connection', socket)
  }

  /** Answers such a connection with an error, and closes it. */
  refuse(fd: number, error: OiError): void {
    this.#refuseConnection(socketOf(fd), error)
  }

  stopAccepting(): void {
    // node:http's own close would also end connections whose replies are handed over but not sent
    // yet.
    NetServer.prototype.close.call(this.#acceptor, () => {})
  }

  get sending(): boolean {
    return [...this.#sockets.keys()].some((socket) => socket.writableLength > 0)
  }

  useTls(content: TlsContent): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(contextOf(content))
  }

  close(): void {
    this.stopAccepting()
    for (const socket of this.#sockets.keys()) socket.destroy()
    this.#server.close()
  }

  #beginChecks(): void {
    if (!this.#server.listening) this.#server.emit('listening')
  }

  #acceptWithHeaders(headers: ProxyHeaders): NetServer {
    return createNetServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) =>
      headers.read(socket, () => this.#server.emit('connection', socket)),
    )
  }

  #addressOf(socket: Duplex): string {
    return this.#headers?.addressOf(socket as Socket) ?? (socket as Socket).remoteAddress ?? ''
  }

  #watch(socket: Socket): void {
    const replies = new Set<ServerResponse>()
    const unconfirmed = new Unconfirmed()
    this.#sockets.set(socket, replies)
    this.#unconfirmed.set(socket, unconfirmed)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#active.delete(socket)
      // Behind the ends of replies that are not written whole, which are lost in any case.
      setImmediate(() => unconfirmed.end(socket.errored !== null))
      for (const reply of replies) {
        // node:http reports this only to the first queued reply, not to those behind it.
        if (reply.socket === null) reply.destroy().emit('close')
      }
    })
    socket.once('end', () => this.#halfClosed(socket))
  }

  #clientOf(request: IncomingMessage, response: ServerResponse): NodeClient {
    request.on('error', () => {})
    response.on('error', () => {})
    const { socket } = request
    const replies = this.#sockets.get(socket)
    replies?.add(response)
    response.once('close', () => replies?.delete(response))
    return new NodeClient(request, response, this.#addressOf(socket), this.#leaving)
  }

  #open(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const error = refusalOf(request)
    if (error !== undefined) return this.#refuse(request, response, error)
    const { socket } = request
    const client = this.#clientOf(request, response)
    client.awaitsContinue = awaitsContinue
    this.#unconfirmed.get(socket)?.next(this.#sockets.get(socket)?.size !== 1)
    const served = this.#listener.open(new NodeHead(request), client)
    if (served === undefined) {
      request.resume()
      return
    }
    const active = { request, client, served }
    this.#unconfirmed.get(socket)?.add(served)
    this.#active.set(socket, active)
    response.on('close', () => {
      if (this.#active.get(socket) === active) this.#active.delete(socket)
      if (!response.writableFinished) served.abandon()
    })
    request.on('data', (chunk: Buffer) => served.receive(chunk, false))
    request.on('end', () => served.receive(new Uint8Array(0), true))
    if (awaitsContinue && !served.ended) {
      client.awaitsContinue = false
      response.writeContinue()
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: OiError): void {
    const client = this.#clientOf(request, response)
    // The rest of this connection's data cannot be trusted.
    client.loseBody()
    this.#refused.add(request.socket)
    request.resume()
    this.#listener.refuse(new NodeHead(request), client, error)
  }

  #clientError(cause: NodeJS.ErrnoException, socket: Duplex): void {
    const lost = cause.code === 'ECONNRESET' || !socket.writable
    const active = this.#active.get(socket)
    if (active !== undefined && !active.request.complete) {
      // The error is in the body.
      if (lost || cause.code === 'HPE_INVALID_EOF_STATE') {
        socket.destroy()
        return
      }
      active.client.loseBody()
      active.served.fail(transportError(cause))
      return
    }
    const replies = this.#sockets.get(socket)
    // Each request has one reply, and they keep their order.
    if (this.#refused.has(socket)) return
    const asked = (socket as Socket).bytesRead > 0 || this.#adopted.has(socket)
    if (!asked || lost) {
      socket.destroy()
      return
    }
    this.#refused.add(socket)
    const refuse = () => {
      if (socket.writable) this.#refuseConnection(socket, transportError(cause))
    }
    const before = [...(replies ?? [])].at(-1)
    if (before === undefined) refuse()
    else before.once('close', refuse)
  }

  #refuseConnection(socket: Duplex, error: OiError): void {
    socket.on('error', () => {})
    socket.removeAllListeners('data').resume()
    this.#listener.refuse(noHead, new RefusedClient(socket, this.#addressOf(socket)), error)
    socket.end()
    // Some more is read, as after any reply (node-client.ts, rule 1).
    const timer = setTimeout(() => socket.destroy(), refusedMs)
    socket.once('close', () => clearTimeout(timer))
    socket.once('end', () => socket.destroy())
  }

  #halfClosed(socket: Socket): void {
    const active = this.#active.get(socket)
    if (active === undefined) return
    const { request, served } = active
    const isRunning = () => this.#active.has(socket)
    if (request.httpVersion === '1.0') {
      setTimeout(() => isRunning() && !served.ended && socket.destroy(), oldClientGraceMs).unref()
      return
    }
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
    const stop = watchHalfClosed({
      isRunning,
      // Once the reply has begun, a part that cannot be written shows the same.
      probe: () => !served.begun && socket.write(interim),
      // The write fails if the client answered the previous one with a reset, and that closes the
      // socket.
      isThere: () => {
        if (!served.begun && !socket.destroyed) socket.write(interim)
        return !socket.destroyed
      },
      finish: () => socket.destroySoon(),
    })
    socket.once('close', stop)
  }
}
