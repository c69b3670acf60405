/** Byte order marks: errors once quoted them, invisibly. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileText } from '../../src/api/file-text.js'
import { readConfig } from '../../src/config.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { RowsFile } from '../../src/evaluate/rows/rows-file.js'
import { findCalibration } from '../../src/models/calibration-file.js'
import { readReadoutFile } from '../../src/models/readout-file.js'
import { ended, RunningCommand } from '../helpers/command.js'

const mark = '\ufeff'
const limits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }
const body = '{"state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}'

t.test('a mark at the beginning is not part of the text, a second one is', (t) => {
  t.equal(fileText(Buffer.from(`${mark}a${mark}`)), `a${mark}`)
  t.equal(fileText(Buffer.from('')), '')
  t.throws(() => fileText(Buffer.from(`${mark}a`, 'utf16le')), { message: /this is UTF-16/ })
  t.throws(() => fileText(Buffer.of(0xfe, 0xff, 0, 97)), { message: /this is UTF-16/ })
  t.throws(() => fileText(Buffer.of(0xff)), { message: /expected UTF-8/ })
  t.end()
})

t.test('every file from a user may begin with a mark', async (t) => {
  const folder = t.testdir()
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, `${mark}${text}`)
    return path
  }
  t.equal(readConfig({}, { config: write('oi.json', '{"port":9000}') }).port, 9000)

  const row = body.replace(/\}$/, ',"expected":{"q":true}}')
  const file = await RowsFile.open(write('rows.jsonl', `${row}\n${row}\n`))
  const rows = []
  for await (const one of rowsOf(file.pieces(), limits)) rows.push(one)
  t.equal(rows.length, 2)

  const calibration = write(
    'c.json',
    JSON.stringify({
      ...{ format: 'oi-calibration@1', model: 'sha256:0', readout: 'letters@1', data: 'd' },
      ...{ date: '2026-01-31', observations: 1, types: {} },
    }),
  )
  t.match(await findCalibration('x', calibration), { readout: 'letters@1' })
  t.match(readReadoutFile(write('r.jinja', '{{ state }} {{ question }} Answer: ')).name, /^r@/)

  const request = write('request.json', body)
  for (const args of [
    ['ask', '--request', request, '--model', 'x', '--json'],
    [
      'ask',
      'x',
      '--questions',
      write('q.json', '{"q":{"type":"noul","instructions":"?"}}'),
      '--model',
      'x',
      '--json',
    ],
    ['ask', '--state-file', write('s.txt', 'x'), '--noul', '?', '--model', 'x', '--json'],
  ]) {
    const { code, stderr } = await ended(new RunningCommand(args, 'fake'))
    t.equal(code, 0, stderr)
  }
  const piped = new RunningCommand(
    ['ask', '--request', '-', '--model', 'x'],
    'fake',
    {},
    mark + body,
  )
  t.equal((await ended(piped)).code, 0)
})

t.test('a settings file that is not UTF-8, or is a folder, is named', (t) => {
  const folder = t.testdir()
  const path = join(folder, 'oi.json')
  for (const [bytes, message] of [
    [Buffer.from(`${mark}{}`, 'utf16le'), /oi\.json: this is UTF-16, expected UTF-8/],
    [Buffer.of(0x7b, 0xff, 0x7d), /oi\.json: expected UTF-8/],
    [Buffer.from(''), /oi\.json: /],
  ] as const) {
    writeFileSync(path, bytes)
    t.throws(() => readConfig({}, { config: path }), { code: 'ERR_CONFIG', message })
  }
  t.throws(() => readConfig({}, { config: folder }), { code: 'ERR_CONFIG', message: /EISDIR/ })
  t.end()
})
