/**
 * Workspaces: what they may use, what they have left, and their ledger.
 *
 * @module
 */

import Type from 'typebox'
import { amount, count, id, name, strict, time } from './fields.js'

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
  period: Type.Union([Type.Literal('day'), Type.Literal('week'), Type.Literal('month')], {
    description: 'In UTC; a week begins on Monday.',
  }),
}

/** A budget as it is set. */
export const BudgetSchema = Type.Object(budgetFields, { title: 'Budget', ...strict })

/** A budget as it stands. */
export const BudgetStateSchema = Type.Object(
  {
    ...budgetFields,
    used_tokens: count('Of this period.'),
    remaining_tokens: count('0 if more were used than there were.'),
    started_at: time('When the period began.'),
    resets_at: time('When the next one begins.'),
  },
  { title: 'BudgetState' },
)

export const WorkspaceSchema = Type.Object(
  {
    id: id('Never given again.'),
    name: name('Another for each workspace.'),
    created_at: time('When it was made.'),
    limits: Type.Object(limitFields, { description: 'Of all its keys together.' }),
    budget: Type.Union([BudgetStateSchema, Type.Null()], { description: '`null`: unlimited.' }),
    balance: Type.Union([amount('Below 0 if answers cost more than there was.'), Type.Null()], {
      description: 'Millionths of a credit that are left; `null`: unlimited.',
    }),
    active_keys: count('Its keys that are let in.'),
  },
  { title: 'Workspace' },
)

export const WorkspacesSchema = Type.Object(
  { workspaces: Type.Array(WorkspaceSchema, { description: 'The oldest first.' }) },
  { title: 'Workspaces' },
)

const changeable = {
  limits: Type.Optional(
    Type.Partial(Type.Object(limitFields, strict), { title: 'LimitsChange', ...strict }),
  ),
  budget: Type.Optional(
    Type.Union([BudgetSchema, Type.Null()], { description: '`null`: unlimited.' }),
  ),
}

export const NewWorkspaceSchema = Type.Object(
  { name: name('Not taken yet.'), ...changeable },
  { title: 'NewWorkspace', ...strict },
)

export const WorkspaceChangeSchema = Type.Object(
  { name: Type.Optional(name('Not taken yet.')), ...changeable },
  { title: 'WorkspaceChange', ...strict, description: 'What is left out stays as it is.' },
)

export const CreditSchema = Type.Union(
  [
    Type.Object(
      {
        amount: amount(
          'Millionths of a credit to add, below 0 to take back. A balance that was unlimited begins at 0.',
        ),
      },
      strict,
    ),
    Type.Object(
      { unlimited: Type.Literal(true, { description: 'What is left of the balance is gone.' }) },
      strict,
    ),
  ],
  { title: 'Credit' },
)

export const LedgerRowSchema = Type.Object(
  {
    id: Type.String({ description: 'As `before` of the next page takes it.' }),
    time: time('When it was booked.'),
    kind: Type.Union([Type.Literal('usage'), Type.Literal('credit'), Type.Literal('unlimited')], {
      description:
        '`usage`: answers; `credit`: what an operator gave or took; `unlimited`: the limit was lifted.',
    }),
    key_id: Type.Union([Type.Integer(), Type.Null()], {
      description: '`null`: no key (the playground, or rows that were closed).',
    }),
    key: Type.Union([Type.String(), Type.Null()], { description: 'Its name.' }),
    model: Type.Union([Type.String(), Type.Null()]),
    answers: Type.Integer({
      description: 'How many it stands for; -1 takes one back that could not be sent.',
    }),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    image_tokens: Type.Integer(),
    cached_tokens: Type.Integer(),
    cost: Type.Integer({ description: 'What its tokens cost, millionths of a credit.' }),
    amount: amount('What it changed the balance by, millionths of a credit.'),
  },
  { title: 'LedgerRow' },
)

export const LedgerPageSchema = Type.Object(
  {
    rows: Type.Array(LedgerRowSchema, {
      description:
        'The newest first. Answers that cost nothing have no row while the balance is unlimited: ' +
        'they are in the usage.',
    }),
    next_before: Type.Union([Type.String(), Type.Null()], {
      description: '`before` for the next page; `null` behind the last row.',
    }),
  },
  { title: 'LedgerPage' },
)

export const ledgerQuery = {
  before: Type.Optional(
    Type.String({ pattern: '^\\d{1,16}-\\d{1,16}-\\d{1,16}$', description: '`next_before`.' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows in a page.' }),
  ),
}
