/** Bodies in parts: JSON, and the images that it names. */
import t from 'tap'
import { gzipSync } from 'node:zlib'
import { png } from '../helpers/pictures.js'
import { type StubServer, withFake } from '../helpers/stub.js'

const questions = { q: { type: 'noul', instructions: 'Is it?' } }
const photo = await png(60, 30)
const asset = { type: 'image', format: 'png' }
const asking = (more: object = {}) => ({
  state: { photo: 'photo-1' },
  questions,
  assets: { 'photo-1': { ...asset, part: 'file-1' } },
  ...more,
})
const plain = JSON.stringify(
  asking({ assets: { 'photo-1': { ...asset, data_base64: photo.toString('base64') } } }),
)

const send = (
  { url, key }: StubServer,
  body: FormData | Uint8Array | string,
  headers: Record<string, string> = {},
  path = '/v1/systemone',
) =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
  })

const json = (value: unknown) => new Blob([JSON.stringify(value)], { type: 'application/json' })

function form(request: unknown, files: Record<string, Uint8Array> = { 'file-1': photo }): FormData {
  const data = new FormData()
  data.append('request', json(request))
  for (const [name, bytes] of Object.entries(files)) {
    data.append(name, new Blob([bytes], { type: 'image/png' }), 'a.png')
  }
  return data
}

const typeOfJson = { 'content-type': 'application/json' }
const boundary = 'XyZ'
const type = { 'content-type': `multipart/form-data; boundary="${boundary}"` }

/** Made by hand. @param parts - Head and content of each. */
function written(
  parts: readonly (readonly [head: string, content: Uint8Array | string])[],
): Buffer {
  return Buffer.concat([
    ...parts.flatMap(([head, content]) => [
      Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

const jsonHead = 'Content-Disposition: form-data; name="request"\r\nContent-Type: application/json'
const fileHead = 'Content-Disposition: form-data; name="file-1"; filename="a.png"'
const jsonPart = [jsonHead, JSON.stringify(asking())] as const
const filePart = [fileHead, photo] as const

for (const transport of ['auto', 'node'] as const) {
  t.test(`an image in a part is answered like one in base64, transport ${transport}`, (t) =>
    withFake({ transport, vision: true }, async (server) => {
      const wanted = (await (await send(server, plain, typeOfJson)).json()) as {
        answers: object
        usage: object
      }
      t.match(wanted.usage, { image_tokens: 6 })
      const textPart = new FormData()
      textPart.append('body', JSON.stringify(asking()))
      textPart.append('file-1', new Blob([photo]), 'a.png')
      const bodies: Record<string, [FormData | Uint8Array, Record<string, string>?]> = {
        'as FormData writes it': [form(asking())],
        'the JSON without a file name': [textPart],
        'by hand': [written([jsonPart, filePart]), type],
        'files first, a preamble and an epilogue': [
          Buffer.concat([
            Buffer.from('This is MIME.\r\n'),
            written([filePart, jsonPart]),
            Buffer.from('the end'),
          ]),
          type,
        ],
        'names without quotes, fields in capitals': [
          written([
            [
              'CONTENT-DISPOSITION: Form-Data; NAME=request\r\nContent-type: application/json; charset=utf-8',
              JSON.stringify(asking()),
            ],
            ["content-disposition: form-data; filename*=utf-8''a; name=file-1", photo],
          ]),
          { 'content-type': `Multipart/Form-Data; charset=x; boundary=${boundary}` },
        ],
        compressed: [
          gzipSync(written([jsonPart, filePart])),
          { ...type, 'content-encoding': 'gzip' },
        ],
        'longer than a window': [
          written([
            jsonPart,
            [fileHead, Buffer.concat([photo, Buffer.alloc(2 ** 21, '\r\n--Xy')])],
          ]),
          type,
        ],
      }
      for (const [what, [body, headers]] of Object.entries(bodies)) {
        const reply = await send(server, body, headers)
        const got = (await reply.json()) as { answers: object; usage: object }
        t.equal(reply.status, 200, `${what}: ${JSON.stringify(got).slice(0, 200)}`)
        t.strictSame(got.answers, wanted.answers, what)
        t.match(got.usage, { image_tokens: 6 }, what)
      }
      const batch = await send(
        server,
        form({ requests: [asking(), asking()] }),
        {},
        '/v1/systemone/batch',
      )
      const { results } = (await batch.json()) as { results: { answers: object }[] }
      t.strictSame(
        results.map(({ answers }) => answers),
        [wanted.answers, wanted.answers],
      )
      t.equal(server.handlers.bodies.heldBytes, 0)
    }),
  )
}

t.test('false parts are refused with 400 or 422, and the server goes on', (t) =>
  withFake({ vision: true }, async (server) => {
    const whole = written([jsonPart, filePart])
    for (const [what, body, message, headers = type] of [
      ['no boundary', whole, /boundary/, { 'content-type': 'multipart/form-data' }],
      [
        'another boundary',
        whole,
        /boundary/,
        { 'content-type': 'multipart/form-data; boundary=a' },
      ],
      ['cut off', whole.subarray(0, -8), /boundary at the end/],
      ['nothing', Buffer.alloc(0), /boundary/],
      [
        'no parts',
        Buffer.from(`--${boundary}--\r\n`),
        /one part of the type application\/json, got 0/,
      ],
      ['two of JSON', written([jsonPart, jsonPart]), /got 2/],
      [
        'a file nobody names',
        written([jsonPart, filePart, [fileHead.replace('file-1', 'x'), photo]]),
        /^x: /,
      ],
      ['a name twice', written([jsonPart, filePart, filePart]), /twice/],
      ['a file that is missing', written([jsonPart]), /assets\["photo-1"\]\.part/],
      ['no name', written([jsonPart, ['Content-Type: image/png', photo]]), /name/],
      ['no head', Buffer.from(`--${boundary}\r\nabc\r\n--${boundary}--`), /head/],
      [
        'words behind a boundary',
        Buffer.from(`--${boundary}abc\r\n\r\n\r\n--${boundary}--`),
        /line break/,
      ],
      [
        'base64',
        written([[`${jsonHead}\r\nContent-Transfer-Encoding: base64`, jsonPart[1]]]),
        /as they are/,
      ],
      ['a picture of another kind', written([jsonPart, [fileHead, 'GIF89a']]), /image\/gif/],
      [
        '65 files',
        written(
          Array.from({ length: 66 }, (_, i) => [fileHead.replace('-1', `-${i}`), ''] as const),
        ),
        /64 parts/,
      ],
    ] as const) {
      const reply = await send(server, body, headers)
      t.equal(reply.status, 400, what)
      t.match(await reply.json(), { error: { code: 'invalid_request', message } }, what)
    }
    const odd = await send(server, written([[jsonHead, '{'], filePart]), type)
    t.equal(odd.status, 422)
    t.equal((await send(server, form(asking()))).status, 200)
  }),
)

t.test('a model that reads text refuses the asset at its place', (t) =>
  withFake({}, async (server) => {
    const reply = await send(server, form(asking()))
    t.equal(reply.status, 400)
    t.match(await reply.json(), { error: { param: 'assets', message: /reads text only/ } })
    t.equal((await send(server, form({ state: 's', questions }, {}))).status, 200)
  }),
)
