/**
 * The server itself: how it is, how it is set, and what was changed.
 *
 * @module
 */

import Type from 'typebox'
import { count, id, time } from './fields.js'

export const ServerSchema = Type.Object(
  {
    version: Type.String({ description: 'Of oi.' }),
    node: Type.String({ description: 'Of Node.js.' }),
    started_at: time('When the process began.'),
    uptime_seconds: Type.Number({ minimum: 0 }),
    state: Type.Union(
      [
        Type.Literal('loading'),
        Type.Literal('ready'),
        Type.Literal('failed'),
        Type.Literal('closing'),
      ],
      { description: 'Of its models together.' },
    ),
    transport: Type.String({ description: 'What speaks HTTP, in words.' }),
    addresses: Type.Array(Type.String(), { description: 'Where it listens, the API first.' }),
    admin: Type.Union([Type.Literal('loopback'), Type.Literal('on')], {
      description: 'Who reaches the admin API: this machine alone, or everybody.',
    }),
    data_folder: Type.String({ description: 'Of workspaces, keys and the ledger.' }),
    requests_under_way: count('Decisions.'),
    memory: Type.Object({
      resident_bytes: count('Of the process of the server.'),
      models_resident_bytes: count("Of its models' own processes."),
      available_bytes: count('What could still be taken.'),
    }),
    accounts: Type.Object({
      trouble: Type.Union([Type.String(), Type.Null()], {
        description: 'Why they cannot be read or written; `null`: they can.',
      }),
      file_bytes: count('Size of `accounts.db` when it was last written to.'),
      pending_bookings: count('Answers whose usage is not in the file yet.'),
    }),
  },
  { title: 'Server' },
)

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

export const SettingsSchema = Type.Object(
  {
    settings: Type.Array(
      Type.Object({
        name: Type.String({ description: 'As in a settings file.' }),
        flag: Type.String(),
        variable: Type.String({ description: 'Of the environment.' }),
        description: Type.String(),
        value,
        default: value,
        origin: Type.Union(
          [
            Type.Literal('default'),
            Type.Literal('file'),
            Type.Literal('environment'),
            Type.Literal('flag'),
          ],
          { description: 'Where the value was given.' },
        ),
        unit: Type.Optional(Type.String({ description: 'Of a number.' })),
        live: Type.Optional(
          Type.Boolean({ description: 'Whether a change counts at SIGHUP, without a new start.' }),
        ),
      }),
    ),
  },
  { title: 'SettingsReport' },
)

export const AuditEntrySchema = Type.Object(
  {
    id: id('Ascending.'),
    time: time('When it was done.'),
    actor: Type.Union([Type.Literal('console'), Type.Literal('command'), Type.Literal('server')], {
      description:
        '`console`: a session of the admin API; `command`: `oi` on the machine; `server`: a first start.',
    }),
    actor_detail: Type.String({
      description: "The client's address, or the user of the system that ran the command.",
    }),
    action: Type.String({ description: 'As `key.rotate`.' }),
    target: Type.String({ description: 'What was changed, as `key 3`.' }),
    target_name: Type.String({ description: 'What it was called then.' }),
    before: Type.Unknown({ description: 'What was changed as it was before; `null`: nothing.' }),
    after: Type.Unknown({ description: 'And after; `null`: nothing.' }),
  },
  { title: 'AuditEntry' },
)

export const AuditSchema = Type.Object(
  {
    entries: Type.Array(AuditEntrySchema, { description: 'The newest first.' }),
    next_before: Type.Union([Type.Integer(), Type.Null()], {
      description: '`before` for the next page; `null` behind the last entry.',
    }),
    unbooked: Type.Object(
      {
        requests: count('Those that were answered.'),
        input_tokens: count('Of them.'),
        output_tokens: count('Of their answers.'),
        image_tokens: count('Of their images.'),
      },
      {
        description:
          'Decisions of the playground that counted to no workspace, since the server started.',
      },
    ),
  },
  { title: 'Audit' },
)

export const auditQuery = {
  before: Type.Optional(id('`next_before`.')),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Entries in a page.' }),
  ),
}
