/**
 * Workspaces: their limits, their balance, and their ledger.
 *
 * @module
 */

import Type from 'typebox'
import { amount, count, id, name, oneOf, orNull, strict, time, timeOrNull } from './fields.js'
import { named } from '../schema-parts.js'

const mostTokens = 1_000_000_000_000_000

const limitFields = {
  requests_per_minute: count('Requests in any 60 seconds; 0: unlimited.', 1_000_000_000),
  concurrent: count('Requests under way at the same time; 0: unlimited.', 1_000_000),
}

const budgetFields = {
  tokens: Type.Integer({
    minimum: 1,
    maximum: mostTokens,
    description: 'Input and output tokens of the answers of one period.',
  }),
  period: oneOf(['day', 'week', 'month'], 'In UTC; a week begins on Monday.'),
}

/** A budget in a request. */
const BudgetSchema = Type.Object(budgetFields, { title: 'Budget', ...strict })

/** A budget with its current state. */
const BudgetStateSchema = named('BudgetState', {
  ...budgetFields,
  used_tokens: count('Tokens used in this period.'),
  remaining_tokens: count('Tokens left; 0 if the budget is overdrawn.'),
  started_at: time('When the period began.'),
  resets_at: time('When the next period begins.'),
})

export const WorkspaceSchema = named('Workspace', {
  id: id('Never reused.'),
  name: name('Unique among workspaces.'),
  created_at: time('When it was created.'),
  archived_at: timeOrNull('Since when its keys are refused; `null`: it is in use.'),
  limits: Type.Object(limitFields, { description: 'Limits of all its keys together.' }),
  budget: orNull(BudgetStateSchema, '`null`: unlimited.'),
  balance: orNull(
    amount('Below 0 if answers cost more than was left.'),
    'Millionths of a credit left; `null`: unlimited.',
  ),
  active_keys: count('The number of its active keys.'),
})

export const WorkspacesSchema = named('Workspaces', {
  workspaces: Type.Array(WorkspaceSchema, { description: 'Oldest first.' }),
})

const changeable = {
  limits: Type.Optional(
    Type.Partial(Type.Object(limitFields, strict), { title: 'LimitsChange', ...strict }),
  ),
  budget: Type.Optional(orNull(BudgetSchema, '`null`: unlimited.')),
}

export const NewWorkspaceSchema = named(
  'NewWorkspace',
  { name: name('Not taken yet.'), ...changeable },
  strict,
)

export const WorkspaceChangeSchema = named(
  'WorkspaceChange',
  {
    name: Type.Optional(name('Not taken yet.')),
    ...changeable,
    archived: Type.Optional(
      Type.Boolean({
        description:
          'Its keys are refused from the next request on; its name, usage and ledger stay.',
      }),
    ),
  },
  { ...strict, description: 'What is left out stays as it is.' },
)

export const CreditSchema = Type.Union(
  [
    Type.Object(
      {
        amount: amount(
          'Millionths of a credit to add, below 0 to take back. An unlimited balance begins at 0.',
        ),
      },
      strict,
    ),
    Type.Object(
      { unlimited: Type.Literal(true, { description: 'The rest of the balance is lost.' }) },
      strict,
    ),
  ],
  { title: 'Credit' },
)

const LedgerRowSchema = named('LedgerRow', {
  id: Type.String({ description: 'The value for `before` of the next page.' }),
  time: time('When it was booked.'),
  kind: oneOf(
    ['usage', 'credit', 'unlimited'],
    '`usage`: answers; `credit`: what an operator gave or took; `unlimited`: the limit was lifted.',
  ),
  key_id: orNull(Type.Integer(), '`null`: no key (the playground, or rows that were closed).'),
  key: orNull(Type.String(), 'Its name.'),
  model: orNull(Type.String()),
  answers: Type.Integer({
    description: 'The number of answers; -1 takes back one that could not be sent.',
  }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  image_tokens: Type.Integer(),
  cached_tokens: Type.Integer(),
  cost: Type.Integer({ description: 'The cost of its tokens, millionths of a credit.' }),
  amount: amount('Its change of the balance, millionths of a credit.'),
})

export const LedgerPageSchema = named('LedgerPage', {
  rows: Type.Array(LedgerRowSchema, {
    description:
      'Newest first. Free answers have no row while the balance is unlimited: ' +
      'they are only in the usage.',
  }),
  next_before: orNull(Type.String(), '`before` for the next page; `null` after the last row.'),
})

export const ledgerQuery = {
  before: Type.Optional(
    Type.String({ pattern: '^\\d{1,16}-\\d{1,16}-\\d{1,16}$', description: '`next_before`.' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows in a page.' }),
  ),
}
