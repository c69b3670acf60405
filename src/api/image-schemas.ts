/**
 * The forms in which a request may hold an image, as the OpenAPI document shows them. Requests
 * are not checked with these: a state is any JSON, and src/images finds the images in it.
 *
 * @module
 */

import Type from 'typebox'

const dataUrl = Type.String({
  pattern: '^data:image/',
  description: 'A data URL; remote addresses are refused.',
})

const maxPixels = Type.Optional(
  Type.Integer({
    minimum: 4096,
    maximum: 16_777_216,
    default: 1_048_576,
    description: 'A larger image is scaled down to so many pixels.',
  }),
)

export const ImageBlockSchema = Type.Object(
  {
    type: Type.Literal('image'),
    source: Type.Object({
      type: Type.Literal('base64'),
      media_type: Type.Enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif'], {
        description: 'Must be what the data is. A GIF has one frame.',
      }),
      data: Type.String({
        contentEncoding: 'base64',
        description: 'At most 8 MiB and 64 megapixels once decoded.',
      }),
    }),
    max_pixels: maxPixels,
  },
  {
    title: 'ImageBlock',
    description:
      'An image. It may stand anywhere in the state, at any depth, and is seen at its place in ' +
      'the text: at most 8 in one request, 32 MiB together. Only a model whose `modalities` ' +
      'name `image` takes one.',
  },
)

export const ImageUrlBlockSchema = Type.Object(
  {
    type: Type.Literal('image_url'),
    image_url: Type.Union([dataUrl, Type.Object({ url: dataUrl })]),
    max_pixels: maxPixels,
  },
  { title: 'ImageUrlBlock', description: 'An image, as other clients send it.' },
)

export const ImageMemberSchema = Type.Object(
  { image: Type.Object({ url: dataUrl, max_pixels: maxPixels }) },
  { title: 'ImageMember', description: 'An image, as other clients send it.' },
)

/** Beside the state. */
export const ImagesSchema = Type.Array(dataUrl, {
  maxItems: 8,
  description: 'Images that stand before the state.',
})
