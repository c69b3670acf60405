/**
 * The settings: name, values, default and description of each. Flags, variables, messages, the
 * guide and the console are made from this table.
 *
 * @module
 */

import Type from 'typebox'
import { allOrders } from '../api/orders.js'
import {
  address,
  devices,
  flag,
  headers,
  integer,
  networks,
  oneOf,
  origins,
  path,
  postgres,
  redis,
  shares,
  text,
  type Traits,
} from './kinds.js'

const ms: Traits = { unit: 'milliseconds' }
const liveMs: Traits = { ...ms, live: true }
const mib: Traits = { unit: 'MiB' }

/** Settings that each model can have for itself. SIGHUP applies all of them. */
const modelProperties = {
  mmproj: path(0, '', 'GGUF file of the projector with which the model sees images'),
  readout: path(0, '', 'how the model is asked: letters@1, letters@2, or a JSON or Jinja file'),
  calibration: path(0, '', 'file that oi calibrate wrote; off takes none', {
    empty: 'beside the model',
  }),
  contextTokens: integer(
    { to: 1_048_576, unit: 'tokens' },
    'longest state and question together; 0 chooses: 8,192, or what the model was trained on',
  ),
  threads: integer(
    { to: 512 },
    'most threads of the model, fewer while others use the cores; 0: one per core',
  ),
  device: devices('where it runs (CUDA0, cpu, rpc://host:port), a replica on each; none: all GPUs'),
  replicas: integer({ to: 64 }, 'copies of the model, each with a context; 0: one per device'),
  split: oneOf(['layer', 'row'], 'how GPUs joined by + divide the model'),
  tensorSplit: shares('shares of those GPUs; none: by their free memory'),
  gpuLayers: integer(
    { from: -1, to: 10_000, standard: -1 },
    'layers on the GPU, the output head counted; -1: as many as fit',
  ),
  cpuExperts: integer(
    { from: -1, to: 10_000, standard: -1 },
    'layers whose experts stay in RAM; -1: those that the GPU has no room for',
  ),
  maxForks: integer({ to: 247 }, 'questions evaluated at once; 0 chooses'),
  batchTokens: integer({ to: 1_048_576, unit: 'tokens' }, 'tokens of one step at most; 0 chooses'),
  microbatchTokens: integer(
    { to: 1_048_576, unit: 'tokens' },
    'tokens of one compute graph; 0 chooses',
  ),
  mmap: oneOf(['on', 'off'], 'memory-maps the weights; off reads them'),
  mlock: flag('locks weights in RAM; the system’s limit for locked memory must allow it'),
  flashAttention: oneOf(['auto', 'on', 'off'], 'flash attention; auto takes the faster kind'),
  cacheType: oneOf(['f16', 'f32', 'bf16'], 'type of the KV cache'),
  kernels: oneOf(['auto', 'off'], 'own CPU kernels, where the machine has them; off: llama.cpp’s'),
  deterministic: flag(
    'the same request has the same answer to the last bit, also where that costs throughput',
  ),
  orders: oneOf(
    ['auto', ...allOrders],
    'orders of the options that an answer is averaged over: 1, 2 (reversed too), all (rotations); auto: as the model’s readout says',
  ),
  maxQueued: integer(
    { from: 1, to: 1_000_000, standard: 256 },
    'requests that may wait for the model',
  ),
  maxBacklogMs: integer(
    { from: 1, to: 3_600_000, standard: 30_000, ...ms },
    'predicted waiting time beyond which a request is refused',
  ),
  hostCacheMb: integer(
    { from: -1, to: 16_777_216, standard: -1, ...mib },
    'RAM for states that have left the context; -1 chooses, 0 is none',
  ),
  diskCacheDir: path(0, '', 'folder for states that survive a restart', { placeholder: 'folder' }),
  diskCacheMb: integer({ to: 1_073_741_824, standard: 8192, ...mib }, 'size of that folder'),
}

const properties = {
  config: path(0, '', 'JSON file of settings and models'),
  model: path(0, '', 'the model to serve: a GGUF file, or the name of a pulled model', {
    ...{ empty: 'oi-small', placeholder: 'model', live: true },
  }),
  host: text(1, '127.0.0.1', 'address to listen on', { placeholder: 'address' }),
  port: integer({ to: 65_535, standard: 8080 }, 'port to listen on; 0 takes a free one'),
  tlsCert: path(0, '', 'PEM file of the certificate, to serve HTTPS; needs tlsKey', { live: true }),
  tlsKey: path(0, '', 'PEM file of its private key', { live: true }),
  corsOrigins: origins('origins of web pages that may call, with commas between; * for all', {
    live: true,
  }),
  transport: oneOf(
    ['auto', 'uws', 'node'],
    'HTTP server: uws (uWebSockets.js) or node (node:http); auto: the faster one that works here',
  ),
  idleTimeoutMs: integer(
    { from: 1000, to: 900_000, standard: 75_000, ...ms },
    'how long an idle connection is kept; set it above a load balancer’s',
  ),
  trustedProxies: networks(
    'proxies whose X-Forwarded-For is trusted: addresses and networks, with commas between',
    { live: true },
  ),
  proxyProtocol: flag('each connection begins with a header of the PROXY protocol'),
  metricsHost: text(1, '127.0.0.1', 'address of the metrics, where they have a port of their own', {
    placeholder: 'address',
  }),
  metricsPort: integer({ to: 65_535 }, 'port of the metrics; 0 serves them beside everything else'),
  admin: oneOf(
    ['loopback', 'on', 'off'],
    'who reaches the console and its API, with a password: this machine, everybody, nobody',
    { placeholder: 'who' },
  ),
  anonymous: oneOf(
    ['off', 'loopback'],
    'who may ask without a key, as the default workspace: nobody, or programs on this machine',
    { placeholder: 'who', live: true },
  ),
  shareStates: oneOf(
    ['workspace', 'all', 'key'],
    'who shares the states that a model has evaluated: times tell them what was asked',
    { placeholder: 'who', live: true },
  ),
  dataDir: path(1, 'data', 'folder of workspaces and keys', {
    placeholder: 'folder',
    shortcut: '--data',
  }),
  accounts: postgres('PostgreSQL in which several nodes have workspaces, keys and the ledger'),
  accountsGraceMs: integer(
    { to: 86_400_000, standard: 300_000, ...ms },
    'how long a node goes on without it',
  ),
  modelsDir: path(0, '', 'folder of pulled models', {
    ...{ placeholder: 'folder', empty: 'models in the data folder' },
  }),
  ...modelProperties,
  inProcess: flag('models run in the server’s process; a crash of one ends all'),
  maxQuestions: integer(
    { from: 1, to: 65_536, standard: 400, live: true },
    'questions in one request',
  ),
  maxBodyBytes: integer(
    { to: 1_073_741_824, unit: 'bytes', live: true },
    'size of a request body; 0 is 4 MiB, or 64 MiB where a model sees images',
  ),
  maxBodiesMb: integer(
    { from: 1, to: 1_048_576, standard: 256, ...mib, live: true },
    'size of all request bodies at the same time',
  ),
  maxReplyBytes: integer(
    { from: 4096, to: 268_435_456, standard: 16_777_216, unit: 'bytes', live: true },
    'size of a reply',
  ),
  bodyTimeoutMs: integer(
    { from: 1, to: 3_600_000, standard: 60_000, ...liveMs },
    'time in which a request’s body must come',
  ),
  deadlineMs: integer(
    { from: 1, to: 3_600_000, standard: 60_000, ...liveMs },
    'time for one request once its body has come',
  ),
  batchDeadlineMs: integer(
    { from: 1, to: 86_400_000, standard: 900_000, ...liveMs },
    'time for a whole batch; each item has the time of a request',
  ),
  idempotencyHours: integer(
    { from: 1, to: 720, standard: 24, unit: 'hours', live: true },
    'how long a request with the same Idempotency-Key is charged once',
  ),
  placeWaitMs: integer(
    { to: 600_000, standard: 10_000, ...liveMs },
    'how long a request over the concurrency limit waits for a place',
  ),
  limits: redis('Valkey or Redis in which several nodes keep the workspaces’ limits together'),
  drainMs: integer(
    { to: 3_600_000, standard: 3000, ...liveMs },
    'time from SIGTERM in which /readyz says 503 and all else is answered',
  ),
  graceMs: integer(
    { to: 3_600_000, standard: 10_000, ...liveMs },
    'time for running requests at shutdown',
  ),
  log: oneOf(['off', 'requests'], 'requests: one line per request on stderr', { live: true }),
  logLevel: oneOf(['info', 'warn', 'error'], 'lowest level that is logged', { live: true }),
  logFormat: oneOf(
    ['auto', 'json', 'text'],
    'format of the log; auto: text on a terminal, else JSON; json: start lines too',
  ),
  otlpEndpoint: address('collector of traces, by OTLP over HTTP, as http://127.0.0.1:4318', {
    empty: 'nothing is traced',
  }),
  otlpHeaders: headers('headers for it, as name=value with commas between', { secret: true }),
  otlpSamplePercent: integer(
    { to: 100, standard: 100, unit: 'percent' },
    'share of requests that are traced; a traceparent decides for its request',
  ),
}

/** Every setting, each optional: the settings of one source. */
export const settingsSchema = Type.Partial(Type.Object(properties))

/** One entry of `models` in a settings file. */
export const modelEntrySchema = Type.Object({
  file: Type.String({
    minLength: 1,
    expected: 'the path of a GGUF file, or the name of a pulled model',
  }),
  name: Type.Optional(Type.String({ minLength: 1, expected: 'a text that is not empty' })),
  aliases: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      expected: 'an array of texts, none of them empty',
    }),
  ),
  ...Type.Partial(Type.Object(modelProperties)).properties,
})

/** Every setting with its value. Units are in the names; a Mb is 2^20 bytes. */
export type Settings = {
  readonly [K in keyof typeof properties]: Type.Static<(typeof properties)[K]>
}
export type ConfigName = keyof Settings
export type ModelSettingName = keyof typeof modelProperties
export type ModelEntry = Type.Static<typeof modelEntrySchema>

export const modelSettingNames = Object.keys(modelProperties) as ModelSettingName[]

/** A setting as help texts, messages and lists show it. */
export interface Setting extends Traits {
  readonly name: ConfigName
  /** As `--max-body-bytes`. */
  readonly flag: string
  /** As `OI_MAX_BODY_BYTES`. */
  readonly variable: string
  readonly description: string
  readonly default: string | number | boolean
  /** The allowed values, in words. */
  readonly expected: string
  /** The range of a number; undefined for other kinds. */
  readonly minimum?: number
  readonly maximum?: number
  /** All allowed values, where they are few. */
  readonly values?: readonly (string | number)[]
  readonly isPath: boolean
  /** Whether text is converted to a number. */
  readonly isNumeric: boolean
  readonly live: boolean
}

// TypeBox keeps the annotations at run time only.
const annotations = properties as unknown as Record<
  ConfigName,
  Omit<Setting, 'name' | 'flag' | 'variable' | 'isPath' | 'isNumeric' | 'live'> &
    Partial<Pick<Setting, 'isPath' | 'isNumeric' | 'live'>>
>

/** All settings, in the schema's order. */
export const settings: readonly Setting[] = Object.entries(annotations).map(
  ([key, { isPath = false, isNumeric, live, ...rest }]) => {
    const name = key as ConfigName
    const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return {
      ...rest,
      name,
      flag: `--${words}`,
      variable: `OI_${words.replaceAll('-', '_').toUpperCase()}`,
      isPath,
      isNumeric: isNumeric ?? typeof rest.default === 'number',
      live: live ?? (modelSettingNames as readonly string[]).includes(name),
    }
  },
)
