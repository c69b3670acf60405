/**
 * One image in every form in which clients send it.
 */
import { block, dataUrl } from './pictures.js'

interface PictureForms {
  /** The block that is `photo` in a state, and the members beside the state that belong to it. */
  readonly inState: Readonly<Record<string, readonly [photo: unknown, rest?: object]>>
  /** Members beside the state. */
  readonly beside: Readonly<Record<string, object>>
}

/** @param png - The file; it is the part `p` in the multipart form. */
export function picturesIn(png: Buffer): PictureForms {
  const data = png.toString('base64')
  const url = dataUrl(png)
  const asset = { type: 'image', format: 'png', data_base64: data }
  const inState: PictureForms['inState'] = {
    'image/jpg and the like': [block(png)],
    'a base64 with line breaks': [
      { type: 'image', source: { ...(block(png)['source'] as object), data: broken(data) } },
    ],
    image_url: [{ type: 'image_url', image_url: { url } }],
    'image_url as a text': [{ type: 'image_url', image_url: url }],
    input_image: [{ type: 'input_image', image_url: url, detail: 'low' }],
    'a text': [url],
    'a text in capitals': [url.replace('data:image/png;base64', 'DATA:Image/PNG;BASE64')],
    'a text with a name': [url.replace(';', ';name=a.png;')],
    'mediaType and base64': [{ mediaType: 'image/png', base64: data }],
    'media_type and base64': [{ media_type: 'image/png', base64: data }],
    'image as base64': [{ type: 'image', image: data }],
    'image as a data URL': [{ type: 'image', image: url, mediaType: 'image/png' }],
    'data and mimeType': [{ type: 'image', data, mimeType: 'image/png' }],
    inlineData: [{ inlineData: { mimeType: 'image/png', data } }],
    inline_data: [{ inline_data: { mime_type: 'image/png', data } }],
    'a part of a file': [{ type: 'file', file: { filename: 'a.png', file_data: url } }],
    'a file of another family': [{ type: 'file', mediaType: 'image/png', data }],
    'a file as input': [{ type: 'input_file', filename: 'a.png', file_data: url }],
    'an asset': ['photo-7f3a', { assets: { 'photo-7f3a': asset } }],
    'an asset without a type': ['a.b', { assets: { 'a.b': { format: 'png', data_base64: data } } }],
    'an asset in a part': ['x', { assets: { x: { type: 'image', format: 'png', part: 'p' } } }],
  }
  const beside: PictureForms['beside'] = {
    'images, data URLs': { images: [url] },
    'images, base64': { images: [data] },
    'images, objects': { images: [{ mediaType: 'image/png', base64: data }] },
    'images, blocks': { images: [block(png)] },
    'images, addresses in objects': { images: [{ url }] },
    'images, chat blocks': { images: [{ type: 'image_url', image_url: { url } }] },
    'images as a text': { images: url },
    'images as base64': { images: data },
    'images as one object': { images: { mediaType: 'image/png', base64: data } },
    'image as a data URL': { image: url },
    'image as base64': { image: data },
    'image as an object': { image: { mediaType: 'image/png', base64: data } },
    'image as an object with an address': { image: { url } },
  }
  return { inState, beside }
}

function broken(text: string): string {
  return text.replaceAll(/.{20}/g, '$&\r\n')
}
