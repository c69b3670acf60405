/**
 * The kind of a GGUF file, from its header: some are no models that can answer, and llama.cpp's
 * errors say neither what they are nor what to do with them.
 *
 * @module
 */

import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { OiError } from '../errors.js'
import { requireFile } from '../open-input.js'
import { isModelName } from './pulled-models.js'

/** The keys that tell the kind come first; vocabularies, behind them, can have megabytes. */
const headBytes = 262_144
/** Bytes per value of GGUF's types, by number. 8 is text, 9 an array. */
const sizes = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8]
const textType = 8
const arrayType = 9

interface Head {
  readonly tensors: number
  /** Values of `general.architecture` and the like. */
  readonly general: ReadonlyMap<string, string>
  /** `pooling_type` behind the architecture's name; 0 without it. */
  readonly pooling: number
  /** Whether every key was read. */
  readonly whole: boolean
}

/** Encoders: they make embeddings and generate no text. */
const encoder = /bert|^t5encoder$|embed/
/** Those that answer by their hidden states, if their pooling says what they are for. */
const pooled = /bert/
/** Encoder-decoders, and models of speech or images. */
const otherwise = /^t5$|^wavtokenizer|^clip$/

/**
 * Refuses files that cannot answer. Unreadable and unknown files pass: loading them reports the
 * error.
 *
 * @throws {@link OiError} `ERR_MODEL_UNSUPPORTED` saying what the file is and what to do with it;
 *   `ERR_MODEL_NOT_FOUND` if it is a name and no pulled model has it; `ERR_MODEL_LOAD` if it is no
 *   file.
 */
export async function requireModelFile(path: string): Promise<void> {
  await requireFile(path, 'ERR_MODEL_LOAD')
  const head = await readHead(path)
  if (head === undefined && isModelName(path) && !(await isThere(path))) {
    const hint = 'and no pulled model of this name (oi models list)'
    throw new OiError('ERR_MODEL_NOT_FOUND', `There is no model file ${path}, ${hint}`)
  }
  const kind = kindOf(head)
  if (kind !== undefined) throw new OiError('ERR_MODEL_UNSUPPORTED', `${path} ${kind}`)
}

/** The same for a projector. @throws As {@link requireModelFile}. */
export async function requireProjectorFile(path: string): Promise<void> {
  await requireFile(path, 'ERR_MODEL_LOAD')
  const head = await readHead(path)
  const architecture = head?.general.get('general.architecture')
  if (architecture === undefined || isProjector(head!)) return
  throw new OiError(
    'ERR_MODEL_UNSUPPORTED',
    `${path} is no projector but a file of the architecture ${architecture}: give the mmproj file ` +
      'that belongs to the model',
  )
}

function kindOf(head: Head | undefined): string | undefined {
  if (head === undefined) return undefined
  const architecture = head.general.get('general.architecture') ?? ''
  const type = head.general.get('general.type')
  if (isProjector(head)) {
    return 'is a projector, with which a model sees images: give it with --mmproj (projectorPath) beside its model'
  }
  if (type === 'adapter') {
    const adapter = head.general.get('adapter.type') ?? 'adapter'
    return `is an adapter (${adapter}), which changes a model: merge it into its model, and give the merged file`
  }
  if (type === 'imatrix' || type === 'dataset') {
    return `is data of the type ${type}, no model`
  }
  // A header that was not read to its end may have the key; loading reports it then.
  const answers = head.general.has('oi.readout') || (pooled.test(architecture) && head.pooling > 0)
  if (encoder.test(architecture) && head.whole && !answers) {
    return `is a model that makes embeddings (${architecture}) and writes no text: give a model that does, as an instruct model, or one whose metadata have a pooling_type`
  }
  if (otherwise.test(architecture)) {
    return `is a model of the architecture ${architecture}, which cannot be asked: give a decoder, as an instruct model`
  }
  if (head.tensors === 0 && architecture !== '') {
    return 'is a vocabulary without weights: give the file of the whole model; of a split model, its first part'
  }
  return undefined
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

function isProjector({ general }: Head): boolean {
  return general.get('general.architecture') === 'clip' || general.get('general.type') === 'mmproj'
}

/** Undefined if it is no GGUF file, or cannot be read. */
async function readHead(path: string): Promise<Head | undefined> {
  const bytes = Buffer.alloc(headBytes)
  let length = 0
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      length = (await file.read(bytes, 0, headBytes, 0)).bytesRead
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
  if (length < 24 || bytes.toString('latin1', 0, 4) !== 'GGUF') return undefined
  return parse(new DataView(bytes.buffer, bytes.byteOffset, length))
}

function parse(view: DataView): Head {
  const general = new Map<string, string>()
  let pooling = 0
  let at = 8
  const number64 = () => {
    const value = Number(view.getBigUint64(at, true))
    at += 8
    return value
  }
  const number32 = () => {
    const value = view.getUint32(at, true)
    at += 4
    return value
  }
  const text = () => {
    const length = number64()
    const bytes = new Uint8Array(view.buffer, view.byteOffset + at, length)
    at += length
    return Buffer.from(bytes).toString('utf8')
  }
  const skip = (type: number) => {
    if (type === textType) {
      const length = number64()
      at += length
      return
    }
    const size = sizes[type]
    if (size === undefined) throw new RangeError('no such type')
    at += size
  }
  const tensors = number64()
  const count = number64()
  let read = 0
  try {
    for (; read < count && at < view.byteLength; read++) {
      const key = text()
      const type = number32()
      if (type === textType) general.set(key, text())
      else if (type === arrayType) {
        const [of, items] = [number32(), number64()]
        for (let item = 0; item < items && at < view.byteLength; item++) skip(of)
      } else {
        const start = at
        skip(type)
        if (key.endsWith('.pooling_type')) pooling = view.getUint32(start, true)
      }
    }
  } catch {
    // Beyond the bytes that were read, or damaged: keep the keys read so far.
  }
  return { tensors, general, pooling, whole: read === count }
}
