/**
 * The forms of an image in a request, for the OpenAPI document. Requests are not validated with
 * these: a state is any JSON, and src/images finds the images in it.
 *
 * @module
 */

import Type from 'typebox'
import { named } from './schema-parts.js'

const dataUrl = Type.String({
  pattern: '^data:image/',
  description: 'A data URL; remote addresses are refused.',
})

const base64 = Type.String({
  contentEncoding: 'base64',
  description: 'At most 8 MiB and 64 megapixels once decoded. Line breaks are allowed.',
})

const mediaType = Type.Enum(['image/png', 'image/jpeg', 'image/jpg', 'image/webp', 'image/gif'], {
  description: 'Must match the data. A GIF has one frame.',
})

const maxPixels = Type.Optional(
  Type.Integer({
    minimum: 4096,
    maximum: 16_777_216,
    default: 1_048_576,
    description: 'A larger image is scaled down to this many pixels.',
  }),
)

const ImageBlockSchema = Type.Object(
  {
    type: Type.Literal('image'),
    source: Type.Object({
      type: Type.Literal('base64'),
      media_type: mediaType,
      data: base64,
    }),
    max_pixels: maxPixels,
  },
  {
    title: 'ImageBlock',
    description:
      'An image. It may stand anywhere in the state, at any depth; the model sees it at its place in ' +
      'the text: at most 8 in one request, 32 MiB together. Only a model whose `modalities` ' +
      'name `image` takes one.',
  },
)

const asOthers = 'An image in the form of other clients.'

const ImageUrlBlockSchema = named(
  'ImageUrlBlock',
  {
    type: Type.Enum(['image_url', 'input_image']),
    image_url: Type.Union([dataUrl, Type.Object({ url: dataUrl })]),
    max_pixels: maxPixels,
  },
  { description: asOthers },
)

const ImageMemberSchema = named(
  'ImageMember',
  { image: Type.Object({ url: dataUrl, max_pixels: maxPixels }) },
  { description: asOthers },
)

const BareImageSchema = named(
  'BareImage',
  {
    type: Type.Literal('image'),
    image: Type.Union([dataUrl, base64]),
    mediaType: Type.Optional(mediaType),
  },
  { description: asOthers },
)

/** With the media type, under each name that clients use for it. */
const typed = <P extends Type.TProperties>(rest: P, title: string) =>
  Type.Union(
    ['mediaType', 'media_type', 'mimeType', 'mime_type'].map((name) =>
      Type.Object({ [name]: mediaType, ...rest }),
    ),
    { title, description: asOthers },
  )

const TypedImageSchema = typed({ base64 }, 'TypedImage')

const DataImageSchema = typed({ type: Type.Enum(['image', 'file']), data: base64 }, 'DataImage')

const InlineImageSchema = Type.Union(
  [
    Type.Object({ inlineData: Type.Object({ mimeType: mediaType, data: base64 }) }),
    Type.Object({ inline_data: Type.Object({ mime_type: mediaType, data: base64 }) }),
  ],
  { title: 'InlineImage', description: asOthers },
)

const FileImageSchema = Type.Union(
  [
    Type.Object({ type: Type.Literal('file'), file: Type.Object({ file_data: dataUrl }) }),
    Type.Object({ type: Type.Literal('input_file'), file_data: dataUrl }),
  ],
  { title: 'FileImage', description: `${asOthers} Other files are refused.` },
)

/** The forms of an image in a state, besides a text. */
export const imageForms = [
  ...[ImageBlockSchema, ImageUrlBlockSchema, ImageMemberSchema, BareImageSchema],
  ...[TypedImageSchema, DataImageSchema, InlineImageSchema, FileImageSchema],
]

/** The forms of an image in a list beside the state, where everything is an image. */
const listed = [dataUrl, base64, ...imageForms, Type.Object({ url: dataUrl })]

export const AssetSchema = named(
  'Asset',
  {
    type: Type.Optional(Type.Literal('image')),
    format: Type.Optional(Type.Enum(['png', 'jpeg', 'jpg', 'webp', 'gif'])),
    data_base64: Type.Optional(base64),
    part: Type.Optional(
      Type.String({
        description:
          'The name of the `multipart/form-data` part with its bytes, instead of ' +
          '`data_base64`.',
      }),
    ),
    max_pixels: maxPixels,
  },
  { description: 'An image: its bytes, or the name of the part with them.' },
)

/** Members beside the state that hold images, before it or in its texts. */
export const imageMembers = {
  image: Type.Union(listed, {
    description: 'An image before the state.',
  }),
  images: Type.Union([Type.Array(Type.Union(listed), { maxItems: 8 }), ...listed], {
    description: 'Images before the state: a list, or one image.',
  }),
  assets: Type.Record(Type.String({ minLength: 1 }), AssetSchema, {
    maxProperties: 8,
    description:
      'Images by your own references. Wherever a reference stands in the state, in ' +
      'instructions or in criteria, the model sees the image there; an unused reference is refused.',
  }),
}
