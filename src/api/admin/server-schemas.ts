/**
 * The server itself: its state, its settings, and the audit log.
 *
 * @module
 */

import Type from 'typebox'
import { count, id, oneOf, orNull, time } from './fields.js'
import { named } from '../schema-parts.js'

export const ServerSchema = named('Server', {
  version: Type.String({ description: 'Of oi.' }),
  node: Type.String({ description: 'Of Node.js.' }),
  started_at: time('When the process began.'),
  uptime_seconds: Type.Number({ minimum: 0 }),
  state: oneOf(['loading', 'ready', 'failed', 'closing'], 'Of all its models together.'),
  transport: Type.String({ description: 'The HTTP library, in words.' }),
  addresses: Type.Array(Type.String(), {
    description: 'The addresses where it listens, the API first.',
  }),
  admin: oneOf(['loopback', 'on'], 'Who can reach the admin API: only this machine, or everybody.'),
  data_folder: Type.String({ description: 'The folder of workspaces, keys and the ledger.' }),
  requests_under_way: count('Decisions.'),
  memory: Type.Object({
    resident_bytes: count("Memory of the server's process."),
    models_resident_bytes: count("Memory of its models' own processes."),
    available_bytes: count('Memory that is still available.'),
  }),
  accounts: Type.Object({
    trouble: orNull(Type.String(), 'Why they cannot be read or written; `null`: they can.'),
    file_bytes: count('Size of `accounts.db` at its last write.'),
    pending_bookings: count('Answers whose usage is not in the file yet.'),
  }),
})

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

export const SettingsSchema = named('SettingsReport', {
  settings: Type.Array(
    Type.Object({
      name: Type.String({ description: 'The name in a settings file.' }),
      flag: Type.String(),
      variable: Type.String({ description: 'The environment variable.' }),
      description: Type.String(),
      value,
      default: value,
      origin: oneOf(['default', 'file', 'environment', 'flag'], 'Where the value was set.'),
      unit: Type.Optional(Type.String({ description: 'Of a number.' })),
      live: Type.Optional(
        Type.Boolean({
          description: 'Whether a change takes effect at SIGHUP, without a restart.',
        }),
      ),
    }),
  ),
})

const AuditEntrySchema = named('AuditEntry', {
  id: id('Ascending.'),
  time: time('When it was done.'),
  actor: oneOf(
    ['console', 'command', 'server'],
    '`console`: a session of the admin API; `command`: `oi` on the machine; `server`: a first start.',
  ),
  actor_detail: Type.String({
    description: "The client's address, or the user of the system that ran the command.",
  }),
  action: Type.String({ description: 'As `key.rotate`.' }),
  target: Type.String({ description: 'What was changed, such as `key 3`.' }),
  target_name: Type.String({ description: 'Its name at that time.' }),
  before: Type.Unknown({ description: 'Its value before the change; `null`: nothing.' }),
  after: Type.Unknown({ description: 'And after; `null`: nothing.' }),
})

export const AuditSchema = named('Audit', {
  entries: Type.Array(AuditEntrySchema, { description: 'Newest first.' }),
  next_before: orNull(Type.Integer(), '`before` for the next page; `null` after the last entry.'),
  unbooked: Type.Object(
    {
      requests: count('Requests that were answered.'),
      input_tokens: count('Of them.'),
      output_tokens: count('Tokens of their answers.'),
      image_tokens: count('Tokens of their images.'),
    },
    {
      description: 'Decisions of the playground without a workspace, since the server started.',
    },
  ),
})

export const auditQuery = {
  before: Type.Optional(id('`next_before`.')),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Entries in a page.' }),
  ),
}
