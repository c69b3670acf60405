/**
 * Section 2.3: images in the state, if a model sees them, and their refusal if none does.
 *
 * @module
 */

import sharp from 'sharp'
import { asking, noul, withState } from '../../../test/helpers/request-text.js'
import { type Card, type Context, refusalOf } from '../context.js'
import { about, check, each, skip, whole } from '../expect.js'
import { section } from '../rule.js'

type Format = 'png' | 'jpeg' | 'webp' | 'gif'
const formats: readonly Format[] = ['png', 'jpeg', 'webp', 'gif']

/** One colour, of this size. */
export function picture(format: Format, width = 64, height = 48): Promise<Buffer> {
  const background = { r: 200, g: 30, b: 30 }
  return sharp({ create: { width, height, channels: 3, background } })
    .toFormat(format)
    .toBuffer()
}

const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`

function block(bytes: Buffer, type = 'image/png', more: object = {}): string {
  const source = { type: 'base64', media_type: type, data: bytes.toString('base64') }
  return JSON.stringify({ type: 'image', source, ...more })
}

/** A PNG whose head claims this size, and which ends there. */
async function announcing(width: number, height: number): Promise<Buffer> {
  const bytes = Buffer.from(await picture('png'))
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

async function animation(): Promise<Buffer> {
  const [width, height] = [16, 32]
  const pixels = Buffer.alloc(width * height * 3, 255).fill(0, 0, (width * height * 3) / 2)
  const raw = { width, height, channels: 3 as const, pageHeight: height / 2 }
  return sharp(pixels, { raw })
    .gif({ delay: [100, 100] })
    .toBuffer()
}

/** A square of unrelated pixels: scaling it down changes it. */
async function noise(size: number): Promise<Buffer> {
  const pixels = Uint8Array.from({ length: size * size * 3 }, (_, i) => (i * 7919) % 251)
  return sharp(pixels, { raw: { width: size, height: size, channels: 3 } })
    .png()
    .toBuffer()
}

/** A model with vision, or one without. */
export async function modelThat(context: Context, sees: boolean): Promise<Card> {
  const all = await context.cards()
  const card = all.find(({ modalities }) => modalities.includes('image') === sees)
  const lack = sees
    ? 'no model in GET /v1/models has the modality image'
    : 'every model sees images'
  return card ?? skip(lack)
}

const seeing = (context: Context) => modelThat(context, true)

/** A body for a model that sees images. */
async function show(context: Context, state: string, more = ''): Promise<string> {
  const { name } = await seeing(context)
  const rest = `"state":${state},"model":${JSON.stringify(name)}${more}`
  return asking(`{"q":${noul}}`, rest)
}

async function requireSeen(context: Context, body: string, images = 1): Promise<void> {
  const { usage } = await context.answer(body)
  whole('usage.image_tokens', usage['image_tokens'], images)
  check(
    usage['input_tokens']! > usage['image_tokens'],
    `input_tokens: ${usage['input_tokens']} do not include ${usage['image_tokens']} of images`,
  )
}

/** Requires a refusal of `{"photo":IMAGE}` that names the place. */
async function requireRefused(context: Context, image: string) {
  const reply = await context.post(await show(context, `{"photo":${image}}`))
  refusalOf(reply, 400, 'invalid_request', 'state.photo')
}

export const imageRules = [
  ...section('2.3', {
    'image block: the state itself, or anywhere inside it': async (context) => {
      const image = block(await picture('png'))
      const states = [image, `["Look:",${image}]`, `{"a":{"b":[1,${image}]}}`]
      await each(states, async (state) => requireSeen(context, await show(context, state)))
    },
    'max_pixels: a larger picture is scaled down to so many': async (context) => {
      const bytes = await noise(512)
      const seen = async (more: object) => {
        const body = await show(context, block(bytes, 'image/png', more))
        const { answers, usage } = await context.answer(body)
        return { tokens: usage['image_tokens']!, noul: answers['q']?.noul }
      }
      const [all, few] = [await seen({}), await seen({ max_pixels: 4096 })]
      // A model with a fixed number of image tokens still sees less of it.
      const shows = few.tokens < all.tokens || few.noul !== all.noul
      check(few.tokens <= all.tokens && shows, `${few.tokens} tokens, as without max_pixels`)
    },
  }),
  ...section('decisions/Images', {
    'image_url, image and images hold data URLs': async (context) => {
      const url = dataUrl(await picture('png'))
      const states = [
        `[{"type":"image_url","image_url":{"url":"${url}"}}]`,
        `[{"type":"image_url","image_url":"${url}"}]`,
        `{"image":{"url":"${url}"}}`,
      ]
      await each(states, async (state) => requireSeen(context, await show(context, state)))
      const beside = await show(context, '"What is it?"', `,"images":["${url}","${url}"]`)
      await about('images', () => requireSeen(context, beside, 2))
    },
    'PNG, JPEG, WebP and GIF are read': (context) =>
      each(formats, async (format) => {
        const image = block(await picture(format), `image/${format}`)
        await requireSeen(context, await show(context, image))
      }),
    'a remote address is refused with 400': async (context) => {
      const url = 'https://example.com/a.png'
      await requireRefused(context, `{"type":"image_url","image_url":{"url":"${url}"}}`)
      await requireRefused(context, `{"type":"image","source":{"type":"url","url":"${url}"}}`)
    },
    'bytes of another type, cut or undecodable are refused with 400': async (context) => {
      const png = await picture('png')
      const wrong = {
        'a JPEG called PNG': await picture('jpeg'),
        'a cut PNG': png.subarray(0, png.length - 20),
        'no picture': Buffer.from('this is no picture'),
        nothing: Buffer.alloc(0),
      }
      await each(wrong, (bytes) => requireRefused(context, block(bytes)))
      const odd = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}}'
      await about('no base64', () => requireRefused(context, odd))
    },
    'an animation is refused with 400': async (context) => {
      await seeing(context)
      await requireRefused(context, block(await animation(), 'image/gif'))
    },
    'more than 64 megapixels are refused with 400 from the head': async (context) => {
      await seeing(context)
      await requireRefused(context, block(await announcing(100_000, 100_000)))
    },
    'max_images: so many images are seen, and more are refused with 400': async (context) => {
      const { max_images: most = 0 } = (await seeing(context)).limits
      const image = block(await picture('png', 16, 16))
      await requireSeen(
        context,
        await show(context, `[${Array<string>(most).fill(image).join()}]`),
        most,
      )
      const images = Array<string>(most + 1).fill(image)
      const body = await show(context, `[${images.join()}]`)
      refusalOf(await context.post(body), 400, 'invalid_request')
    },
    'max_pixels outside of 4,096 to 16,777,216 is refused with 400': async (context) => {
      const bytes = await picture('png')
      for (const max_pixels of [4095, 16_777_217, 0, -1, 5000.5]) {
        await about(`${max_pixels}`, () =>
          requireRefused(context, block(bytes, 'image/png', { max_pixels })),
        )
      }
    },
    'a model without vision refuses an image with 400': async (context) => {
      const blind = await modelThat(context, false)
      const image = block(await picture('png'))
      const body = asking(
        `{"q":${noul}}`,
        `"state":{"photo":${image}},"model":${JSON.stringify(blind.name)}`,
      )
      refusalOf(await context.post(body), 400, 'invalid_request', 'state.photo')
    },
    'text that only speaks of images is text': (context) =>
      each(['{"image":"a cat","images":["a"]}', '{"type":"image","name":"c.png"}'], (state) =>
        context.answer(withState(state)),
      ),
  }),
]
