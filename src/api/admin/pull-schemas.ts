/**
 * The models that have names on the server's machine, and pulls of further ones.
 *
 * @module
 */

import Type from 'typebox'
import { count, oneOf, orNull, strict, timeOrNull } from './fields.js'
import { named } from '../schema-parts.js'

export const NamedModelSchema = named('NamedModel', {
  name: Type.String({ description: 'The name that `POST /models` takes as `file`.' }),
  bytes: count('Of all its files; of an unfinished pull, what is there.'),
  state: oneOf(
    ['packaged', 'pulled', 'unfinished'],
    '`packaged`: it came with this server; `pulled`: whole and checked; `unfinished`: its pull ' +
      'runs, or was cut, and goes on where it was when it is pulled again.',
  ),
  quantization: Type.String({ description: 'As `Q4_K_M`; empty if unknown.' }),
  sees_images: Type.Boolean(),
  source: Type.String({ description: 'Where it was pulled from; empty if unknown.' }),
  pulled_at: timeOrNull('When it was whole.'),
  loaded: Type.Boolean({ description: 'Whether the server has it open.' }),
})

export const NamedModelsSchema = named('NamedModels', {
  models: Type.Array(NamedModelSchema),
  folder: Type.String({ description: 'The folder of pulled models.' }),
  free_bytes: orNull(count('Room on its disk.')),
})

export const NewPullSchema = named(
  'NewPull',
  {
    source: Type.String({
      minLength: 1,
      maxLength: 2000,
      description:
        '`hf:owner/repository[:QUANTIZATION]`, or the `https://` address of a GGUF file. A token for ' +
        "private repositories is the server's `HF_TOKEN`.",
    }),
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Default: from its file.' }),
    ),
    sha256: Type.Optional(
      Type.String({ minLength: 1, maxLength: 71, description: 'The expected digest of its file.' }),
    ),
  },
  strict,
)

export const FreedSchema = named('Freed', { freed_bytes: count('What was removed.') })
