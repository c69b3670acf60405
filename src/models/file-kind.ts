/**
 * The kind of a GGUF file, from its header: some are no models that can answer, and llama.cpp's
 * errors say neither what they are nor what to do with them.
 *
 * @module
 */

import { stat } from 'node:fs/promises'
import { type GgufHeader, readGgufHeader } from '../engine/gguf-header.js'
import { OiError } from '../errors.js'
import { requireFile } from '../open-input.js'
import { isModelName } from './pulled-models.js'

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
  if (
    head === undefined &&
    isModelName(path) &&
    (await stat(path).catch(() => undefined)) === undefined
  ) {
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
  const architecture = head && textIn(head, 'general.architecture')
  if (architecture === undefined || isProjector(head!)) return
  throw new OiError(
    'ERR_MODEL_UNSUPPORTED',
    `${path} is no projector but a file of the architecture ${architecture}: give the mmproj file ` +
      'that belongs to the model',
  )
}

function kindOf(head: GgufHeader | undefined): string | undefined {
  if (head === undefined) return undefined
  const architecture = textIn(head, 'general.architecture') ?? ''
  const type = textIn(head, 'general.type')
  if (isProjector(head)) {
    return 'is a projector, with which a model sees images: give it with --mmproj (projectorPath) beside its model'
  }
  if (type === 'adapter') {
    const adapter = textIn(head, 'adapter.type') ?? 'adapter'
    return `is an adapter (${adapter}), which changes a model: merge it into its model, and give the merged file`
  }
  if (type === 'imatrix' || type === 'dataset') {
    return `is data of the type ${type}, no model`
  }
  const answers = head.values.has('oi.readout') || (pooled.test(architecture) && isPooled(head))
  if (encoder.test(architecture) && !answers) {
    return `is a model that makes embeddings (${architecture}) and writes no text: give a model that does, as an instruct model, or one whose metadata have a pooling_type`
  }
  if (otherwise.test(architecture)) {
    return `is a model of the architecture ${architecture}, which cannot be asked: give a decoder, as an instruct model`
  }
  if (head.tensors.length === 0 && architecture !== '') {
    return 'is a vocabulary without weights: give the file of the whole model; of a split model, its first part'
  }
  return undefined
}

function isProjector(head: GgufHeader): boolean {
  return (
    textIn(head, 'general.architecture') === 'clip' || textIn(head, 'general.type') === 'mmproj'
  )
}

/** Whether it says how its hidden states become one; by 0 they do not. */
function isPooled({ values }: GgufHeader): boolean {
  return [...values].some(([key, value]) => key.endsWith('.pooling_type') && Number(value) > 0)
}

function textIn({ values }: GgufHeader, key: string): string | undefined {
  const value = values.get(key)
  return typeof value === 'string' ? value : undefined
}

/** Undefined if it is no GGUF file, is damaged, or cannot be read. */
async function readHead(path: string): Promise<GgufHeader | undefined> {
  const header = await readGgufHeader(path).catch(() => undefined)
  return typeof header === 'string' ? undefined : header
}
