/** The commands about limits, credits, prices and usage. */
import t from 'tap'
import { validators } from '../../src/api/schemas.js'
import { audit } from '../helpers/audit.js'
import { oi } from '../helpers/command.js'

t.test('limits and credits, as listed', async (t) => {
  const dataDir = t.testdir()
  const workspaces = (...args: string[]) => oi(['workspaces', ...args, '--data', dataDir])
  await workspaces('create', 'shop')
  t.match((await workspaces('list')).stdout, /shop +unlimited +unlimited +6000 +256 /)

  const limits = ['--requests-per-minute', '600', '--concurrent', '0']
  t.match(await workspaces('set-limits', 'shop', ...limits), {
    code: 0,
    stdout: 'Workspace "shop": requests per minute 600, concurrent unlimited, balance unlimited\n',
  })
  t.match((await workspaces('credit', 'shop', '12.5')).stdout, /balance 12\.5\n$/)
  t.match((await workspaces('credit', 'shop', '-0.000001')).stdout, /balance 12\.499999\n$/)
  t.match(JSON.parse((await workspaces('list', '--json')).stdout), [
    { name: 'shop', requestsPerMinute: 600, concurrent: 0, balance: 12_499_999 },
  ])
  t.match(audit(dataDir, 'shop'), { balance: 12_499_999, sum: 12_499_999 })
  t.match((await workspaces('credit', 'shop', '--unlimited')).stdout, /balance unlimited\n$/)
  t.match(audit(dataDir, 'shop'), { balance: null, sum: 0 })
})

t.test('mistakes in limits and credits', async (t) => {
  const dataDir = t.testdir()
  await oi(['workspaces', 'create', 'shop', '--data', dataDir])
  for (const [args, code, message] of [
    [['credit', 'shop', '1.0000001'], 2, /at most 9 digits/],
    [['credit', 'shop', '5', '--unlimited'], 2, /either an amount or --unlimited/],
    [['credit', 'shop', '-1'], 1, /unlimited: nothing can be taken back/],
    [['credit', 'nobody', '1'], 1, /no workspace "nobody"/],
    [['set-limits', 'shop'], 2, /Nothing to set/],
    [['set-limits', 'shop', '--concurrent', '-1'], 2, /whole number/],
  ] as const) {
    const result = await oi(['workspaces', ...args, '--data', dataDir])
    t.equal(result.code, code, args.join(' '))
    t.match(result.stderr, message)
    t.equal(result.stdout, '')
  }
})

t.test('prices: none, set, one part changed', async (t) => {
  const data = ['--data', t.testdir()]
  const price = (...args: string[]) => oi(['models', 'price', ...args, ...data])
  await oi(['workspaces', 'create', 'shop', ...data])
  for (const args of [['big', '--input', '2'], ['big'], ['oi-smal', '--output', '1']]) {
    const refused = await price(...args)
    t.match(refused, { code: 1, stdout: '', stderr: /No model .* is known here: did you mean oi-/ })
  }
  t.match(await price('oi-small'), { code: 0, stderr: 'oi-small has no price: it is free\n' })
  const set = await price('big', '--input', '2', '--output', '0.5', '--force')
  t.match(set.stdout, /big +2 +0\.5 +0$/m)
  await price('big', '--image', '3')
  t.strictSame(JSON.parse((await price('--json')).stdout), [
    { model: 'big', input: 2_000_000, output: 500_000, image: 3_000_000 },
  ])
  t.match(await price('--input', '2'), { code: 2, stderr: /The model is missing/ })
  t.match(await price('big', '--input', '-2'), {
    code: 1,
    stderr: /input: expected a price from 0/,
  })
})

t.test('workspaces are archived, and taken into use again', async (t) => {
  const data = ['--data', t.testdir()]
  const run = (...args: string[]) => oi(['workspaces', ...args, ...data])
  for (const name of ['old', 'new']) await run('create', name)
  t.match(await run('archive', 'old'), {
    code: 0,
    stdout: /"old" is archived: its keys are refused/,
  })
  const list = await run('list')
  t.notMatch(list.stdout, /old/)
  t.match(list, { stdout: /new/, stderr: '(1 archived: --all)\n' })
  t.match(await run('list', '--all'), { stdout: / old .*20\d\d-/, stderr: '' })
  t.match(await oi(['keys', 'create', '--workspace', 'old', ...data]), {
    code: 1,
    stderr: /archived/,
  })
  t.match(await run('archive', 'nope'), { code: 1, stderr: /There is no workspace "nope"/ })
  t.match(await run('archive', 'old', '--undo'), { code: 0, stdout: /"old" is in use again/ })
  t.match((await run('list')).stdout, /old/)
})

t.test('usage, for people and as in the route', async (t) => {
  const data = ['--data', t.testdir()]
  await oi(['workspaces', 'create', 'shop', ...data])
  t.match((await oi(['workspaces', 'usage', 'shop', ...data])).stdout, /balance unlimited\n.*cost/s)
  const report: unknown = JSON.parse(
    (await oi(['workspaces', 'usage', 'shop', '--json', ...data])).stdout,
  )
  t.ok(validators.usage.Check(report))
  t.match(report, { workspace: 'shop', balance: null, usage: [] })
})

t.test('accounts: a check, and rows that are closed', { timeout: 60_000 }, async (t) => {
  const data = ['--data', t.testdir()]
  await oi(['workspaces', 'create', 'shop', ...data])
  await oi(['workspaces', 'credit', 'shop', '2', ...data])
  t.match(await oi(['accounts', 'check', ...data]), {
    code: 0,
    stdout: /shop +2 +2 /,
    stderr: '',
  })
  const compact = (...args: string[]) => oi(['accounts', 'compact', ...args, ...data])
  t.match(await compact(), { code: 2, stderr: /--before/ })
  t.match(await compact('--before', 'yesterday'), { code: 2, stderr: /2026-01-31/ })
  t.match(await compact('--before', '2999-01-01'), { code: 2, stderr: /not begun/ })
  t.match(await compact('--before', '2020-01-01', '--shrink'), {
    code: 0,
    stdout: /^0 rows moved to .*ledger-before-2020-01-01\.jsonl, 0 replace them/,
  })
  t.match(await compact('--before', '2020-01-01'), { code: 1, stderr: /exists already.*--export/ })
})
