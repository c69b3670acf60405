/**
 * The settings: what each is called, what it may be, and what it is by itself.
 *
 * @module
 */

import Type from 'typebox'
import { allOrders } from '../api/orders.js'

const integer = (minimum: number, maximum: number, standard: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    default: standard,
    description,
    expected: `an integer from ${minimum} to ${maximum}`,
  })

const text = (minLength: number, standard: string, description: string) =>
  Type.String({
    minLength,
    default: standard,
    description,
    expected: minLength === 0 ? 'a text' : 'a text that is not empty',
  })

/** An origin as browsers write it: scheme, host in lower case, a port that is not the usual one. */
const origin = '[a-z][a-z0-9+.-]*://[a-z0-9._:\\[\\]-]+'

const origins = (description: string) =>
  Type.String({
    pattern: `^(?:\\*|${origin}(?: *, *${origin})*)?$`,
    default: '',
    description,
    expected: 'origins like https://app.example with commas between them, or * for all',
  })

/** Addresses and networks, each checked when it is used; here only what can be one. */
const network =
  '(?:[0-9.]{7,15}(?:/(?:[12]?\\d|3[0-2]))?|[0-9A-Fa-f:.]{2,45}(?:/(?:\\d\\d?|1[01]\\d|12[0-8]))?)'

const networks = (description: string) =>
  Type.String({
    pattern: `^(?:${network}(?: *, *${network})*)?$`,
    default: '',
    description,
    expected: 'addresses or networks like 10.0.0.0/8 with commas between them',
  })

/** A file or folder; relative ones in a settings file are meant from that file's folder. */
const path = (minLength: number, standard: string, description: string) => ({
  ...text(minLength, standard, description),
  isPath: true,
})

/** As ggml calls them: which of them there are is found out when a model is opened. */
const devices = (description: string) =>
  Type.String({
    pattern: '^(?:[^\\s,]+(?: *, *[^\\s,]+)*)?$',
    default: '',
    description,
    expected: 'names of devices like CUDA0 or cpu with commas between them',
  })

const flag = (description: string) =>
  Type.Boolean({
    default: false,
    description,
    expected: 'true or false, in a variable also 1 or 0',
  })

const oneOf = <const T extends string | number>(values: readonly T[], description: string) =>
  Type.Union(
    // Of an array that is no tuple, the library takes the type for never.
    values.map((value) => Type.Literal(value)) as unknown as [Type.TLiteral<T>],
    {
      default: values[0]!,
      description,
      expected: values.map((value) => JSON.stringify(value)).join(' or '),
      isNumeric: values.some((value) => typeof value === 'number'),
    },
  )

/** Those that each of several models can have for itself. */
const modelProperties = {
  mmproj: path(0, '', 'GGUF file of the projector with which the model sees images'),
  readout: path(0, '', 'how the model is asked: letters@1, letters@2, or a JSON or Jinja file'),
  calibration: path(0, '', 'file that oi calibrate wrote; off takes none'),
  contextTokens: integer(0, 1_048_576, 0, 'longest state and question together, tokens; 0 chooses'),
  threads: integer(0, 512, 0, 'threads of the model; 0 takes as many as there are cores'),
  device: devices('where the model runs, as CUDA0 or cpu; a replica on each of several'),
  replicas: integer(0, 64, 0, 'how often the model runs, each with a context; 0: once per device'),
  gpuLayers: integer(-1, 10_000, -1, 'layers on the GPU; -1 puts all there that fit'),
  flashAttention: oneOf(['auto', 'on', 'off'], 'kind of attention; auto takes the faster one'),
  cacheType: oneOf(['f16', 'f32', 'bf16'], 'type of the numbers in the context'),
  kernels: oneOf(['auto', 'off'], 'own CPU kernels, where the machine has them; off: llama.cpp’s'),
  deterministic: flag('the same request has the same answer to the last bit, at less throughput'),
  orders: oneOf(
    ['auto', ...allOrders],
    'orders of the options that an answer is averaged over: 1, 2 (reversed too), all (rotations); auto: as the model’s readout says',
  ),
  maxQueued: integer(1, 1_000_000, 256, 'requests that may wait for the model'),
  maxBacklogMs: integer(
    1,
    3_600_000,
    30_000,
    'predicted waiting time beyond which a request is refused, milliseconds',
  ),
  hostCacheMb: integer(
    -1,
    16_777_216,
    -1,
    'RAM for states that have left the context, MiB; -1 chooses, 0 is none',
  ),
  diskCacheDir: path(0, '', 'folder for states that survive a restart'),
  diskCacheMb: integer(0, 1_073_741_824, 8192, 'size of that folder, MiB'),
}

const properties = {
  config: path(0, '', 'JSON file of settings and models'),
  model: path(0, '', 'the model to serve: a GGUF file, or the name of a pulled model'),
  host: text(1, '127.0.0.1', 'address to listen on'),
  port: integer(0, 65_535, 8080, 'port to listen on; 0 takes a free one'),
  tlsCert: path(0, '', 'PEM file of the certificate, to serve HTTPS; needs tlsKey'),
  tlsKey: path(0, '', 'PEM file of its private key'),
  corsOrigins: origins('origins of web pages that may call, with commas between them; * for all'),
  transport: oneOf(
    ['auto', 'uws', 'node'],
    'what speaks HTTP: uWebSockets.js, or node:http alone; auto takes the faster one that can',
  ),
  idleTimeoutMs: integer(
    1000,
    900_000,
    75_000,
    'how long a connection without a request is kept, milliseconds; more than a balancer before it',
  ),
  trustedProxies: networks(
    'proxies whose X-Forwarded-For is believed: addresses and networks, with commas between them',
  ),
  proxyProtocol: flag('each connection begins with a header of the PROXY protocol'),
  metricsHost: text(1, '127.0.0.1', 'address of the metrics, where they have a port of their own'),
  metricsPort: integer(0, 65_535, 0, 'port of the metrics; 0 serves them beside everything else'),
  dataDir: path(1, 'data', 'folder of workspaces and keys'),
  modelsDir: path(0, '', 'folder of pulled models; by itself, models in the data folder'),
  ...modelProperties,
  inProcess: flag('models run in the process of the server, and what ends one ends all'),
  maxQuestions: integer(1, 65_536, 256, 'questions in one request'),
  maxBodyBytes: integer(
    0,
    1_073_741_824,
    0,
    'size of a request body, bytes; 0 is 4 MiB, or 64 MiB where a model sees images',
  ),
  maxBodiesMb: integer(1, 1_048_576, 256, 'size of all request bodies at the same time, MiB'),
  maxReplyBytes: integer(
    4096,
    268_435_456,
    16_777_216,
    'size that a reply may reach by what is asked, bytes',
  ),
  deadlineMs: integer(1, 3_600_000, 60_000, 'time for one request, milliseconds'),
  batchDeadlineMs: integer(
    1,
    86_400_000,
    900_000,
    'time for a batch as a whole, milliseconds; each of its items has the time of a request',
  ),
  placeWaitMs: integer(
    0,
    600_000,
    10_000,
    'how long a request over the concurrent limit waits for a place, milliseconds',
  ),
  drainMs: integer(
    0,
    3_600_000,
    3000,
    'time from SIGTERM in which /readyz says 503 and all else is answered, milliseconds',
  ),
  graceMs: integer(0, 3_600_000, 10_000, 'time for running requests at shutdown, milliseconds'),
  log: oneOf(['off', 'requests'], 'requests: one JSON line per request on stderr'),
}

/** Every setting, each optional: what one source of settings may say. */
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

/** Every setting, with a value. Units are in the names; a Mb is 2^20 bytes. */
export type Settings = {
  readonly [K in keyof typeof properties]: Type.Static<(typeof properties)[K]>
}
export type ConfigName = keyof Settings
export type ModelSettingName = keyof typeof modelProperties
export type ModelEntry = Type.Static<typeof modelEntrySchema>

export const modelSettingNames = Object.keys(modelProperties) as ModelSettingName[]

/** A setting as help texts and messages show it. */
export interface Setting {
  readonly name: ConfigName
  /** As `--max-body-bytes`. */
  readonly flag: string
  /** As `OI_MAX_BODY_BYTES`. */
  readonly variable: string
  readonly description: string
  readonly default: string | number | boolean
  readonly isPath: boolean
  /** Whether the text of a number means the number. */
  readonly isNumeric: boolean
}

// TypeBox keeps the annotations at run time only.
const annotations = properties as unknown as Record<
  ConfigName,
  Pick<Setting, 'description' | 'default'> & { isPath?: boolean; isNumeric?: boolean }
>

/** All settings, in the schema's order. */
export const settings: readonly Setting[] = Object.entries(annotations).map(
  ([name, { description, default: standard, isPath = false, isNumeric }]) => {
    const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return {
      name: name as ConfigName,
      flag: `--${words}`,
      variable: `OI_${words.replaceAll('-', '_').toUpperCase()}`,
      description,
      default: standard,
      isPath,
      isNumeric: isNumeric ?? typeof standard === 'number',
    }
  },
)
