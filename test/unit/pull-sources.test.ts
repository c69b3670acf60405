/** The sources of a pull, and the files of a repository that they mean. No network, no files. */
import t from 'tap'
import { chooseFiles, modelNameOf, safeFileName } from '../../src/models/pull/choose-files.js'
import { readRetryAfter } from '../../src/models/pull/fetch.js'
import { Ranges } from '../../src/models/pull/ranges.js'
import { readAddress, readSource, shownAddress, sourceText } from '../../src/models/pull/source.js'
import { isModelName } from '../../src/models/pulled-models.js'

const hub = new URL('https://hub.example')
const listed = (...paths: string[]) => paths.map((path) => ({ path, bytes: 1, sha256: undefined }))
const chosen = (wanted: string | undefined, ...paths: string[]) => {
  const { model, projector } = chooseFiles(listed(...paths), wanted, 'hf:a/b')
  return [...model, ...(projector ? [projector] : [])].map(({ path }) => path)
}

t.test('a source is a repository, an address or a path', async (t) => {
  t.match(readSource('hf:a/b', hub), {
    kind: 'hub',
    owner: 'a',
    repository: 'b',
    wanted: undefined,
  })
  t.match(readSource('hf:a/b.c:Q4_K_M', hub), { repository: 'b.c', wanted: 'Q4_K_M' })
  t.match(readSource('https://x.example/m.gguf?sig=1', hub), { kind: 'address' })
  t.match(readSource('models/m.gguf', hub), { kind: 'path', path: 'models/m.gguf' })
  t.match(readSource('C:\\models\\m.gguf', hub), { kind: 'path' })
})

t.test("the address of a hub's page means the model on the page", async (t) => {
  t.match(readSource('https://hub.example/a/b', hub), { kind: 'hub', repository: 'b' })
  for (const word of ['blob', 'resolve']) {
    t.match(readSource(`https://hub.example/a/b/${word}/v%2F2/x/m%20n.gguf?download=true`, hub), {
      ...{ kind: 'hub', owner: 'a', repository: 'b', revision: 'v/2', wanted: 'x/m n.gguf' },
    })
  }
  t.match(readSource('https://other.example/a/b', hub), { kind: 'address' })
  t.match(readSource('https://hub.example/files/m.gguf', hub), { kind: 'address' })
})

for (const [text, fault] of Object.entries({
  'hf:a': /expected hf:owner\/repository/,
  'hf:../b': /expected hf:owner/,
  'hf:a/b:': /expected hf:owner/,
  'ftp://x/m.gguf': /expected an address like https/,
  'file:///etc/passwd': /expected an address like https/,
  'https://user:secret@x.example/m.gguf': /without a password/,
  'https://hub.example/a/b/blob/main/%zz.gguf': /has a % without an escape/,
})) {
  t.test(`refused: ${text}`, async (t) => {
    t.throws(() => readSource(text, hub), { code: 'ERR_CONFIG', message: fault })
  })
}

t.test('no message shows the secrets in an address', async (t) => {
  const url = readAddress('source', 'https://x.example/m.gguf?signature=secret#part')
  t.equal(shownAddress(url), 'https://x.example/m.gguf')
  t.equal(sourceText({ kind: 'address', url }), 'https://x.example/m.gguf')
  try {
    readAddress('source', 'https://user:secret@x.example/')
  } catch (error) {
    t.notMatch((error as Error).message, /secret/)
  }
})

t.test('the only model of a repository needs no quantization, several need one', async (t) => {
  t.strictSame(chosen(undefined, 'README.md', 'm.gguf'), ['m.gguf'])
  t.strictSame(chosen(undefined, 'm-Q8_0.gguf', 'm-Q4_K_M.gguf'), ['m-Q4_K_M.gguf'])
  t.throws(() => chosen(undefined, 'm-Q8_0.gguf', 'm-F16.gguf'), {
    code: 'ERR_PULL',
    message: /has several models; .*\n- m-F16\.gguf\n- m-Q8_0\.gguf$/,
  })
})

t.test('a quantization is a word of the name, in any case', async (t) => {
  const all = ['m-q4_k_m.gguf', 'm-q4_k_m_l.gguf', 'm-Q8_0.gguf', 'sub/m.F16.gguf', 'n_q5_0.gguf']
  t.strictSame(chosen('Q4_K_M', ...all), ['m-q4_k_m.gguf'])
  t.strictSame(chosen('q8_0', ...all), ['m-Q8_0.gguf'])
  t.strictSame(chosen('f16', ...all), ['sub/m.F16.gguf'])
  t.strictSame(chosen('Q5_0', ...all), ['n_q5_0.gguf'])
  t.strictSame(chosen('sub/m.F16.gguf', ...all), ['sub/m.F16.gguf'])
  t.throws(() => chosen('Q6_K', ...all), { message: /has no model Q6_K; name one of them/ })
  t.throws(() => chosen('Q4_K_M', 'a-Q4_K_M.gguf', 'b-Q4_K_M.gguf'), {
    message: /has 2 models Q4_K_M; .*\n- a-Q4_K_M\.gguf\n- b-Q4_K_M\.gguf/,
  })
})

t.test('all parts of a split model are taken in order, and none may be missing', async (t) => {
  const part = (i: number) => `Q8_0/m-Q8_0-0000${i}-of-00003.gguf`
  t.strictSame(chosen('Q8_0', part(3), part(1), 'm-Q4_0.gguf', part(2)), [1, 2, 3].map(part))
  t.throws(() => chosen('Q8_0', part(1), part(3)), { message: /has 3 parts, .* has 2 of them/ })
  t.equal(modelNameOf('m-Q8_0-00001-of-00003.gguf'), 'm-Q8_0')
})

t.test('a projector is taken too, the most exact of the small ones', async (t) => {
  const projectors = ['mmproj-m-f32.gguf', 'mmproj-m-F16.gguf', 'mmproj-m-bf16.gguf']
  t.strictSame(chosen(undefined, ...projectors, 'm.gguf'), ['m.gguf', 'mmproj-m-F16.gguf'])
  t.strictSame(chosen(undefined, 'm.gguf', 'm.mmproj-q4.gguf'), ['m.gguf', 'm.mmproj-q4.gguf'])
  t.strictSame(chosen(undefined, 'm.gguf', 'm.imatrix.gguf'), ['m.gguf'])
  t.throws(() => chosen(undefined, 'mmproj-F16.gguf', 'a.safetensors'), {
    message: /has no GGUF file of a model/,
  })
})

for (const path of [
  '../m.gguf',
  'a/../../m.gguf',
  '/etc/m.gguf',
  'a//m.gguf',
  'a\\..\\m.gguf',
  'c:m.gguf',
  'x\u0000.gguf',
  '.m.gguf',
  './m.gguf',
  `${'m'.repeat(250)}.gguf`,
]) {
  t.test(
    `a name that could lead elsewhere refuses its repository: ${path.slice(0, 40)}`,
    async (t) => {
      t.throws(() => safeFileName(path), { code: 'ERR_PULL' })
      t.throws(() => chosen('Q4_0', 'm-Q4_0.gguf', path), { code: 'ERR_PULL', message: /no name/ })
    },
  )
}

t.test('a model’s name is neither a path nor a file nor a role', async (t) => {
  for (const name of ['m', 'Qwen3-0.6B-Q4_K_M', 'a_b.c']) t.ok(isModelName(name), name)
  const others = ['', '.', '..', '.pull', 'a/b', 'a\\b', 'm.gguf', 'm.GGUF', 'default', 'latest']
  for (const name of [...others, 'a b', 'x'.repeat(101), 'a.']) t.notOk(isModelName(name), name)
})

t.test("a server's wait is seconds or a date, and bounded", async (t) => {
  t.equal(readRetryAfter('3'), 3000)
  t.equal(readRetryAfter('999999'), 600_000)
  t.equal(readRetryAfter('soon'), undefined)
  t.equal(readRetryAfter(null), undefined)
  t.equal(readRetryAfter(new Date(0).toUTCString()), 0)
  const wait = readRetryAfter(new Date(Date.now() + 10_000).toUTCString())!
  t.ok(wait > 8000 && wait <= 10_000, `${wait} ms`)
})

t.test('adjacent ranges are merged, and missing ones come in pieces', async (t) => {
  const ranges = new Ranges([
    [10, 20],
    [0, 5],
  ])
  t.strictSame(ranges.missing(25, 3), [
    [5, 8],
    [8, 10],
    [20, 23],
    [23, 25],
  ])
  ranges.add(5, 10)
  t.strictSame(ranges.spans, [[0, 20]])
  t.equal(ranges.bytes, 20)
  ranges.remove(4, 6)
  t.strictSame(ranges.missing(20, 100), [[4, 6]])
  ranges.add(3, 25)
  t.strictSame(ranges.missing(20, 100), [])
  t.strictSame(new Ranges().missing(2, 100), [[0, 2]])
})

t.test('after any additions in any order, present and missing ranges are the whole', async (t) => {
  let seed = 7
  const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n
  const wrong: number[] = []
  for (let round = 0; round < 200; round++) {
    const there = new Uint8Array(50)
    const ranges = new Ranges()
    for (let i = 0; i < 12; i++) {
      const from = random(50)
      const to = Math.min(50, from + random(12))
      if (random(4) === 0) {
        ranges.remove(from, to)
        there.fill(0, from, to)
      } else {
        ranges.add(from, to)
        there.fill(1, from, to)
      }
    }
    const rebuilt = new Uint8Array(50).fill(1)
    const missing = [...ranges.missing(50, 7)]
    for (const [from, to] of missing) rebuilt.fill(0, from, to)
    const areShort = missing.every(([from, to]) => to - from <= 7 && to > from)
    const bytes = there.reduce((sum, one) => sum + one, 0)
    const isWhole = rebuilt.every((one, at) => one === there[at])
    if (!areShort || !isWhole || ranges.bytes !== bytes) wrong.push(round)
  }
  t.strictSame(wrong, [], 'rounds')
})
