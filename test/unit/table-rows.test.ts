/** Labelled rows of tables, as programs and Excel write them. */
import t from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import { tableReader, type TableOptions } from '../../src/evaluate/rows/table-rows.js'
import { all, inPieces, limits } from '../helpers/labelled.js'

const questions: DecideRequest['questions'] = {
  money: { type: 'noul', instructions: 'Is it about money?' },
  team: { type: 'choice', criteria: { Accounts: 'payments', Technical: null } },
  urgent: { type: 'score', criteria: ['can wait', 'Today', 'at once'] },
}
const expected = { money: 'money', team: 'team', urgent: 'urgent' }

const read = async (text: string | Uint8Array, more: Partial<TableOptions> = {}, length = 7) => {
  const reader = tableReader({ questions, state: ['text'], expected, ...more })
  const rows = await all(reader.rows(inPieces(text, length), limits))
  return rows.map(({ record: _, ...row }) => row)
}

const excel =
  '\ufeffid;text;money;team;urgent\r\n' +
  '1;"Charged ""twice"";\r\nrefund, please";TRUE;Accounts;Today\r\n' +
  '\r\n' +
  '2;Grüße 😀;no;technical;2\r\n'

t.test('a table of Excel: byte order mark, semicolons, line breaks in quotes', async (t) => {
  const rows = await read(excel)
  t.strictSame(rows, [
    {
      line: 2,
      request: { state: 'Charged "twice";\r\nrefund, please', questions },
      expected: { money: true, team: 'Accounts', urgent: 1 },
    },
    {
      line: 5,
      request: { state: 'Grüße 😀', questions },
      expected: { money: false, team: 'Technical', urgent: 2 },
    },
  ])
  for (const length of [1, 3, 1000]) t.strictSame(await read(excel, {}, length), rows)
})

t.test('commas, tabs and plain line ends', async (t) => {
  for (const divider of [',', '\t']) {
    const lines = [
      ['text', 'money'],
      ['a; b', 'yes'],
      ['c', '0'],
    ]
    const text = lines.map((cells) => cells.join(divider)).join('\n')
    const rows = await read(text, { expected: { money: 'money' } })
    t.strictSame(
      rows.map(({ line, request: { state }, expected }) => [line, state, expected]),
      [
        [2, 'a; b', { money: true }],
        [3, 'c', { money: false }],
      ],
    )
  }
})

t.test('right answers are taken as people write them', async (t) => {
  const label = async (name: string, text: string) => {
    const rows = await read(`text,${name}\nx,${text}`, { expected: { [name]: name } })
    return rows[0]!.expected[name]
  }
  for (const yes of ['true', 'TRUE', 'Yes', 'y', '1', ' yes '])
    t.equal(await label('money', yes), true)
  for (const no of ['false', 'No', 'n', '0']) t.equal(await label('money', no), false)
  for (const name of ['Accounts', 'accounts', ' ACCOUNTS']) {
    t.equal(await label('team', name), 'Accounts')
  }
  for (const level of ['1', '1.0', '"1,0"', 'Today', 'today'])
    t.equal(await label('urgent', level), 1)
  await t.rejects(label('money', 'maybe'), {
    message: /^line 2: money: expected yes or no, got "maybe"/,
  })
  await t.rejects(label('team', 'sales'), {
    message: /^line 2: team: expected the name of an option/,
  })
  await t.rejects(label('urgent', '3'), {
    message: /^line 2: urgent: expected a level from 0 to 2/,
  })
  await t.rejects(label('urgent', '-1'), { message: /expected a level/ })
})

t.test('an empty cell is no right answer, a row without any is refused', async (t) => {
  const rows = await read('text,money,team,urgent\nx,,Accounts,')
  t.strictSame(rows[0]!.expected, { team: 'Accounts' })
  await t.rejects(read('text,money,team,urgent\nx,,,'), {
    message: /^line 2: money: expected a right answer/,
  })
})

t.test('several columns are the members of the state', async (t) => {
  const [row] = await read('subject,text,money\nhi,there,1', {
    state: ['subject', 'text'],
    expected: { money: 'money' },
  })
  t.equal(JSON.stringify(row!.request.state), '{"subject":"hi","text":"there"}')
})

t.test('objects of JSON are rows as well, with members for columns', async (t) => {
  const objects = [
    { id: 7, text: 'Charged "twice"', money: true, team: 'accounts', urgent: 1 },
    { text: { subject: 'Hi' }, money: null, team: 'Technical', urgent: 'at once', more: [1] },
    { text: '', money: 0 },
  ]
  const wanted = [
    ['Charged "twice"', { money: true, team: 'Accounts', urgent: 1 }],
    [{ subject: 'Hi' }, { team: 'Technical', urgent: 2 }],
    ['', { money: false }],
  ]
  for (const text of [
    objects.map((each) => JSON.stringify(each)).join('\n'),
    JSON.stringify(objects),
  ]) {
    const rows = await read(text)
    t.strictSame(
      rows.map(({ request, expected }) => [request.state, expected]),
      wanted,
    )
    const lines = rows.map(({ line }) => line)
    t.strictSame(lines, [1, 2, 3])
  }
  for (const [text, message] of [
    ['{"text":"x"}', /^line 1: money: expected a right answer, got none$/],
    ['{"text":"x","money":1}\n{"body":"y"}', /^line 2: text: expected this member .*, got "body"$/],
    ['[{"text":"x","money":1},[]]', /^item 2: expected an object, got an empty array$/],
    ['{"text":"x","money":"perhaps"}', /^line 1: money: expected yes or no, got "perhaps"$/],
  ] as const) {
    await t.rejects(read(text), { message })
  }
})

t.test('what is wrong is named, with its line', async (t) => {
  const only = { expected: { money: 'money' } }
  for (const [text, message] of [
    ['body,money\nx,1', /^There is no column "text" among "body", "money"$/],
    ['text,money,text\nx,1,y', /^There is more than one column "text"/],
    ['text,money\nx,1\ny', /^line 3: expected 2 columns, got 1/],
    ['text,money\n"x,1\n', /^not a table: .*[Qq]uote/],
    [Buffer.from('text,money\nGr\xfc\xdfe,1', 'latin1'), /expected UTF-8 \(in Excel/],
  ] as const) {
    await t.rejects(read(text, only), { message })
  }
  t.strictSame(await read('text,money\n', only), [])
  t.strictSame(await read('', only), [])
})

t.test('what the rows depend on besides the file is its identity', async (t) => {
  const identity = (more: Partial<TableOptions>) =>
    tableReader({ questions, state: ['text'], expected, ...more }).identity
  t.equal(identity({}), identity({}))
  t.not(identity({ state: ['body'] }), identity({}))
  t.not(identity({ expected: { money: 'm' } }), identity({}))
  t.not(identity({ questions: { money: questions['money']! } }), identity({}))
})
