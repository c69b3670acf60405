/**
 * The schema of the accounts' file, and the migration of older files.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { OiError } from '../../errors.js'
import { copyBefore } from './schema-copy.js'

/** The columns of tables of sums. Part of steps, as the next one: an edited form gets a new name. */
const sums = `requests INTEGER NOT NULL,
     input_tokens INTEGER NOT NULL,
     output_tokens INTEGER NOT NULL,
     image_tokens INTEGER NOT NULL,
     cached_tokens INTEGER NOT NULL,
     cost INTEGER NOT NULL`

/** A trigger that counts changes of what others may have read. */
const counts = (trigger: string, when: string) =>
  `CREATE TRIGGER ${trigger} AFTER ${when} BEGIN UPDATE tally SET total = total + 1; END;`

/** Schema steps: the step at index i leads from version i to i + 1. Never edited, only added to. */
export const schemaSteps = [
  `CREATE TABLE workspaces (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     name TEXT NOT NULL UNIQUE,
     created_ms INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE keys (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
     name TEXT NOT NULL,
     hash BLOB NOT NULL UNIQUE,
     last_four TEXT NOT NULL,
     created_ms INTEGER NOT NULL,
     used_ms INTEGER,
     revoked_ms INTEGER
   ) STRICT;
   CREATE INDEX keys_of_workspace ON keys (workspace_id);`,

  // Limits: 0 is unlimited. Money: whole millionths of a credit; a balance of NULL is unlimited.
  // Days: whole days since 1970, UTC. A ledger row's cost is the cost of its tokens; its amount is
  // its change of the balance, which is 0 while the balance is unlimited.
  `ALTER TABLE workspaces ADD COLUMN
     requests_per_minute INTEGER NOT NULL DEFAULT 6000 CHECK (requests_per_minute >= 0);
   ALTER TABLE workspaces ADD COLUMN
     concurrent INTEGER NOT NULL DEFAULT 64 CHECK (concurrent >= 0);
   ALTER TABLE workspaces ADD COLUMN balance INTEGER;
   CREATE TABLE prices (
     model TEXT PRIMARY KEY,
     input INTEGER NOT NULL CHECK (input >= 0),
     output INTEGER NOT NULL CHECK (output >= 0),
     image INTEGER NOT NULL CHECK (image >= 0)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE writers (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     opened_ms INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE ledger (
     writer INTEGER NOT NULL REFERENCES writers (id),
     number INTEGER NOT NULL,
     workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
     time_ms INTEGER NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('usage', 'credit', 'unlimited')),
     model TEXT,
     input_tokens INTEGER NOT NULL DEFAULT 0,
     output_tokens INTEGER NOT NULL DEFAULT 0,
     image_tokens INTEGER NOT NULL DEFAULT 0,
     cached_tokens INTEGER NOT NULL DEFAULT 0,
     cost INTEGER NOT NULL DEFAULT 0,
     amount INTEGER NOT NULL,
     PRIMARY KEY (writer, number)
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER ledger_keeps_rows BEFORE DELETE ON ledger
     BEGIN SELECT RAISE(ABORT, 'rows of the ledger are never deleted'); END;
   CREATE TRIGGER ledger_keeps_values BEFORE UPDATE ON ledger
     BEGIN SELECT RAISE(ABORT, 'rows of the ledger are never changed'); END;
   CREATE TABLE usage (
     workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
     day INTEGER NOT NULL,
     model TEXT NOT NULL,
     ${sums},
     PRIMARY KEY (workspace_id, day, model)
   ) STRICT, WITHOUT ROWID;`,

  // Daily usage is kept by key as well, in a table of its own: a workspace's table stays as short
  // as its models are few, however many keys it has. A row of the ledger may stand for several
  // answers (rows): one that oi accounts compact has inserted; or take one back (-1), for an answer
  // that could not be sent in time.
  //
  // A writer's row has its last booking's number, in the same transaction. The tally counts
  // everything that others may have read before: bookings by their numbers, and each change of
  // keys, limits, prices and credits. So a process sees changes by others: the tally minus its own
  // bookings.
  `ALTER TABLE ledger ADD COLUMN key_id INTEGER;
   ALTER TABLE ledger ADD COLUMN rows INTEGER NOT NULL DEFAULT 1;
   ALTER TABLE writers ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE key_usage (
     key_id INTEGER NOT NULL,
     day INTEGER NOT NULL,
     model TEXT NOT NULL,
     ${sums},
     PRIMARY KEY (key_id, day, model)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE spools (id TEXT PRIMARY KEY, taken_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE compactions (before_ms INTEGER NOT NULL) STRICT;
   DROP TRIGGER ledger_keeps_rows;
   CREATE TRIGGER ledger_keeps_rows BEFORE DELETE ON ledger
     WHEN NOT EXISTS (SELECT 1 FROM compactions WHERE OLD.time_ms < before_ms)
     BEGIN SELECT RAISE(ABORT, 'rows of the ledger are never deleted'); END;
   CREATE TABLE tally (total INTEGER NOT NULL) STRICT;
   INSERT INTO tally VALUES (0);
   ${counts('tally_key', 'INSERT ON keys')}
   ${counts('tally_revoked', 'UPDATE OF revoked_ms ON keys')}
   ${counts('tally_limits', 'UPDATE OF requests_per_minute, concurrent, name ON workspaces')}
   ${counts('tally_price', 'INSERT ON prices')}
   ${counts('tally_prices', 'UPDATE ON prices')}
   ${counts('tally_no_price', 'DELETE ON prices')}
   ${counts('tally_credit', "INSERT ON ledger WHEN NEW.kind <> 'usage'")}`,

  // Keys expire, are blocked, replaced, and bound to models (a JSON array; NULL: all). Workspaces
  // have budgets. Usage is kept by hour as well: each batch of bookings adds to one row per key, so
  // a booking costs nothing more. Indexes on days are touched once a day per row.
  //
  // Administration: a password, sessions, and the audit log, which nobody changes.
  `ALTER TABLE keys ADD COLUMN expires_ms INTEGER;
   ALTER TABLE keys ADD COLUMN blocked_ms INTEGER;
   ALTER TABLE keys ADD COLUMN models TEXT;
   ALTER TABLE keys ADD COLUMN replaced_by INTEGER REFERENCES keys (id);
   ALTER TABLE workspaces ADD COLUMN budget_tokens INTEGER CHECK (budget_tokens > 0);
   ALTER TABLE workspaces ADD COLUMN
     budget_period TEXT CHECK (budget_period IN ('day', 'week', 'month'));
   ${counts('tally_key_terms', 'UPDATE OF expires_ms, blocked_ms, models ON keys')}
   ${counts('tally_budget', 'UPDATE OF budget_tokens, budget_period ON workspaces')}
   CREATE INDEX usage_of_day ON usage (day);
   CREATE INDEX key_usage_of_day ON key_usage (day);
   CREATE INDEX ledger_of_workspace ON ledger (workspace_id, time_ms);
   CREATE TABLE hour_usage (
     hour INTEGER NOT NULL,
     workspace_id INTEGER NOT NULL,
     key_id INTEGER NOT NULL,
     model TEXT NOT NULL,
     ${sums},
     PRIMARY KEY (hour, workspace_id, key_id, model)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE admin_password (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     hash TEXT NOT NULL,
     changed_ms INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE first_sign_in (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     hash BLOB NOT NULL,
     made_ms INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE sessions (
     hash BLOB PRIMARY KEY,
     created_ms INTEGER NOT NULL,
     seen_ms INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     time_ms INTEGER NOT NULL,
     actor TEXT NOT NULL CHECK (actor IN ('console', 'command', 'server')),
     actor_detail TEXT NOT NULL,
     action TEXT NOT NULL,
     target TEXT NOT NULL,
     target_name TEXT NOT NULL,
     before TEXT,
     after TEXT
   ) STRICT;
   CREATE TRIGGER audit_keeps_entries BEFORE DELETE ON audit
     BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never deleted'); END;
   CREATE TRIGGER audit_keeps_values BEFORE UPDATE ON audit
     BEGIN SELECT RAISE(ABORT, 'entries of the audit log are never changed'); END;`,

  // Bookings that cannot be made, as they came (JSON): one must not block all others.
  `CREATE TABLE set_aside (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     time_ms INTEGER NOT NULL,
     reason TEXT NOT NULL,
     booking TEXT NOT NULL
   ) STRICT;`,

  // Requests that are charged once, however often they are repeated (retry-keys.ts): each key with
  // the booking that was made for it.
  `CREATE TABLE retry_keys (
     workspace_id INTEGER NOT NULL,
     key TEXT NOT NULL,
     item INTEGER NOT NULL,
     request TEXT NOT NULL,
     writer INTEGER NOT NULL,
     number INTEGER NOT NULL,
     until_ms INTEGER NOT NULL,
     PRIMARY KEY (workspace_id, key, item)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX retry_keys_until ON retry_keys (until_ms);`,

  // Workspaces are archived: their keys are refused, and everything else stays.
  `ALTER TABLE workspaces ADD COLUMN archived_ms INTEGER;
   ${counts('tally_archived', 'UPDATE OF archived_ms ON workspaces')}`,
]

/** The step that added limits to workspaces. */
const limitsStep = 2

/** The default of a workspace's concurrent requests. */
export const standardConcurrent = 256

/**
 * Migrates a file to this version, in one transaction, with a copy of the old one beside it.
 *
 * @returns The copy's path; undefined if there was nothing to do, or no older file.
 * @throws {@link OiError} `ERR_ACCOUNTS` if a newer version has written the file, or no copy can be
 *   made.
 */
export function migrate(db: Sqlite.Database, path: string): string | undefined {
  const found = db.pragma('user_version', { simple: true }) as number
  // Most openings find nothing to do, and need not wait for a writer.
  if (found === schemaSteps.length) return undefined
  const copy = found > 0 && found < schemaSteps.length ? copyBefore(db, path, found) : undefined
  // Immediate: if two processes start at once, the second waits and finds the work done.
  db.transaction(() => {
    const version = db.pragma('user_version', { simple: true }) as number
    if (version > schemaSteps.length) {
      throw new OiError(
        'ERR_ACCOUNTS',
        `${path} was written by a newer version of oi (schema ${version}, this one knows ` +
          `${schemaSteps.length}): update oi`,
      )
    }
    for (const step of schemaSteps.slice(version)) db.exec(step)
    // Before limits existed nobody can have chosen them; a later 64 may have been chosen.
    if (version < limitsStep)
      db.prepare('UPDATE workspaces SET concurrent = ?').run(standardConcurrent)
    db.pragma(`user_version = ${schemaSteps.length}`)
  }).immediate()
  return copy
}
