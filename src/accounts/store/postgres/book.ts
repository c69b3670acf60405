/**
 * Bookings in PostgreSQL: the rules of ledger/write-bookings.ts in one function of the database, so
 * that a batch is one statement, however many workspaces it has.
 *
 * Rules, beside those
 *   1. The function locks the writer's row, then the rows of the workspaces in the order of their
 *      ids, then keys in that of theirs: nodes wait for each other, and never in a circle. A
 *      workspace's row guards its sums and the keys of its retries, too.
 *   2. A connection's epoch is that of the writer's row, or nothing is booked: when a node has lost
 *      a connection, it raises the epoch before it asks what is written, and what was still on its
 *      way comes too late.
 *
 * @module
 */

import { type Booking, dayMs, describe, hourMs } from '../../ledger/booking.js'
import type { Booked } from '../../ledger/write-bookings.js'
import type { Session } from './client.js'

const columns = 'requests, input_tokens, output_tokens, image_tokens, cached_tokens, cost'
const summed = columns
  .split(', ')
  .map((column) => `sum(b.${column})`)
  .join(', ')

const day = `div(b.time_ms, ${dayMs})::BIGINT`
const hour = `div(b.time_ms, ${hourMs})::BIGINT`

/** Adds the sums of bookings to a table that has them by these columns. */
const addTo = (table: string, keys: readonly string[], values: readonly string[], only = 'true') =>
  `INSERT INTO ${table} (${keys.join(', ')}, ${columns})
   SELECT ${values.join(', ')}, ${summed} FROM unnest(made) b WHERE ${only}
   GROUP BY ${keys.map((_, i) => i + 1).join(', ')} ORDER BY ${keys.map((_, i) => i + 1).join(', ')}
   ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${columns
     .split(', ')
     .map((column) => `${column} = ${table}.${column} + excluded.${column}`)
     .join(', ')};`

/** Part of a schema's step: an edited form gets a new name. */
export const bookFunction = `
CREATE TYPE booking_1 AS (
  n BIGINT, workspace_id BIGINT, key_id BIGINT, model TEXT, time_ms BIGINT, requests BIGINT,
  input_tokens BIGINT, output_tokens BIGINT, image_tokens BIGINT, cached_tokens BIGINT,
  cost BIGINT, charged BOOLEAN, retry_key TEXT, retry_item BIGINT, retry_request TEXT,
  retry_until BIGINT, retry_answered BOOLEAN, amount BIGINT, has_row BOOLEAN);
CREATE FUNCTION book_1(
  the_writer BIGINT, the_epoch BIGINT, last BIGINT, bookings JSONB, refused JSONB, now_ms BIGINT)
RETURNS JSONB LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  before RECORD;
  fresh booking_1[];
  made booking_1[];
  kept BIGINT[] := '{}';
  one booking_1;
  found_request TEXT;
  done BIGINT;
  set_aside_now BIGINT;
  why TEXT;
BEGIN
  SELECT written, epoch INTO before FROM writers WHERE id = the_writer FOR UPDATE;
  IF NOT FOUND OR before.epoch <> the_epoch THEN
    RAISE EXCEPTION 'a later connection of this writer has taken over' USING ERRCODE = 'OI001';
  END IF;
  PERFORM 1 FROM workspaces
    WHERE id IN (SELECT (b->>'workspace_id')::BIGINT FROM jsonb_array_elements(bookings) b)
    ORDER BY id FOR NO KEY UPDATE;
  fresh := ARRAY(
    SELECT b FROM jsonb_populate_recordset(NULL::booking_1, bookings) b
    WHERE b.n > before.written ORDER BY b.n);

  FOREACH one IN ARRAY fresh LOOP
    CONTINUE WHEN one.retry_key IS NULL;
    CONTINUE WHEN NOT EXISTS (SELECT 1 FROM workspaces WHERE id = one.workspace_id);
    IF one.requests < 0 THEN
      DELETE FROM retry_keys WHERE workspace_id = one.workspace_id AND key = one.retry_key
        AND item = one.retry_item AND request = one.retry_request;
      CONTINUE;
    END IF;
    INSERT INTO retry_keys AS old
    VALUES (one.workspace_id, one.retry_key, one.retry_item, one.retry_request, the_writer, one.n,
            one.retry_until)
    ON CONFLICT (workspace_id, key, item) DO UPDATE SET request = excluded.request,
      writer = excluded.writer, number = excluded.number, until_ms = excluded.until_ms
      WHERE old.until_ms <= now_ms;
    GET DIAGNOSTICS done = ROW_COUNT;
    CONTINUE WHEN done > 0;
    SELECT request INTO found_request FROM retry_keys
      WHERE workspace_id = one.workspace_id AND key = one.retry_key AND item = one.retry_item;
    IF NOT (one.retry_answered AND found_request <> one.retry_request) THEN
      kept := kept || one.n;
    END IF;
  END LOOP;

  INSERT INTO set_aside (time_ms, reason, booking)
    SELECT now_ms, r->>'reason', r->>'booking' FROM jsonb_array_elements(refused) r
    WHERE (r->>'n')::BIGINT > before.written;
  INSERT INTO set_aside (time_ms, reason, booking)
    SELECT now_ms, 'there is no workspace ' || b.workspace_id, to_jsonb(b)::TEXT
    FROM unnest(fresh) b
    WHERE NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = b.workspace_id);
  SELECT count(*), max(reason) INTO set_aside_now, why FROM (
    SELECT r->>'reason' AS reason FROM jsonb_array_elements(refused) r
      WHERE (r->>'n')::BIGINT > before.written
    UNION ALL
    SELECT 'there is no workspace ' || b.workspace_id FROM unnest(fresh) b
      WHERE NOT EXISTS (SELECT 1 FROM workspaces w WHERE w.id = b.workspace_id)) reasons;

  made := ARRAY(
    SELECT ROW(
      b.n, b.workspace_id, b.key_id, b.model, b.time_ms, b.requests, b.input_tokens,
      b.output_tokens, b.image_tokens, b.cached_tokens, b.cost, b.charged, b.retry_key,
      b.retry_item, b.retry_request, b.retry_until, b.retry_answered,
      CASE WHEN w.balance IS NOT NULL AND b.charged THEN -b.cost ELSE 0 END,
      w.balance IS NOT NULL OR b.cost <> 0)::booking_1
    FROM unnest(fresh) b JOIN workspaces w ON w.id = b.workspace_id
    WHERE b.n <> ALL (kept) ORDER BY b.n);
  INSERT INTO ledger (kind, writer, number, workspace_id, key_id, time_ms, model, rows,
      input_tokens, output_tokens, image_tokens, cached_tokens, cost, amount)
    SELECT 'usage', the_writer, b.n, b.workspace_id, b.key_id, b.time_ms, b.model, b.requests,
      b.input_tokens, b.output_tokens, b.image_tokens, b.cached_tokens, b.cost, b.amount
    FROM unnest(made) b WHERE b.has_row;
  ${addTo('usage', ['workspace_id', 'day', 'model'], ['b.workspace_id', day, 'b.model'])}
  ${addTo('key_usage', ['key_id', 'day', 'model'], ['b.key_id', day, 'b.model'], 'b.key_id > 0')}
  ${addTo(
    'hour_usage',
    ['hour', 'workspace_id', 'key_id', 'model'],
    [hour, 'b.workspace_id', 'b.key_id', 'b.model'],
  )}
  UPDATE workspaces w SET balance = w.balance + s.amount
    FROM (SELECT b.workspace_id, sum(b.amount) AS amount FROM unnest(made) b GROUP BY 1) s
    WHERE w.id = s.workspace_id AND s.amount <> 0;
  UPDATE writers SET written = greatest(written, last) WHERE id = the_writer;
  RETURN jsonb_build_object('setAside', set_aside_now, 'reason', coalesce(why, ''));
END $$;`

/** The numbers of a booking that must be whole. */
const numbers = [
  ...(['workspaceId', 'keyId', 'timeMs', 'requests', 'inputTokens', 'outputTokens'] as const),
  ...(['imageTokens', 'cachedTokens', 'cost'] as const),
]

/** Why a booking cannot be made; undefined: it can. */
function faultOf(booking: Booking): string | undefined {
  const wrong = numbers.find((name) => !Number.isSafeInteger(booking[name]))
  if (wrong !== undefined) return `${wrong} is no whole number: ${booking[wrong]}`
  // PostgreSQL has no text with this character.
  const isText = typeof booking.model === 'string' && !booking.model.includes('\0')
  return isText ? undefined : 'model is no text'
}

/**
 * Books, within a transaction. Numbers up to those that are written already count once.
 *
 * @param first - The number of the first booking of the writer.
 * @param nowMs - The time that keys of retries live by.
 */
export async function book(
  session: Session,
  bookings: readonly Booking[],
  [writer, epoch, first]: readonly [writer: number, epoch: number, first: number],
  nowMs: number,
): Promise<Booked> {
  const refused: object[] = []
  const valid: object[] = []
  for (const [i, booking] of bookings.entries()) {
    const n = first + i
    const reason = faultOf(booking)
    if (reason === undefined) valid.push(rowOf(n, booking))
    else refused.push({ n, reason, booking: describe(booking) })
  }
  const { rows } = await session.query('SELECT book_1($1, $2, $3, $4, $5, $6) AS booked', [
    ...[writer, epoch, first + bookings.length - 1],
    ...[JSON.stringify(valid), JSON.stringify(refused), nowMs],
  ])
  return (rows[0] as { booked: Booked }).booked
}

function rowOf(n: number, { retry, ...booking }: Booking) {
  return {
    ...{ n, workspace_id: booking.workspaceId, key_id: booking.keyId, model: booking.model },
    ...{ time_ms: booking.timeMs, requests: booking.requests, cost: booking.cost },
    ...{ input_tokens: booking.inputTokens, output_tokens: booking.outputTokens },
    ...{ image_tokens: booking.imageTokens, cached_tokens: booking.cachedTokens },
    charged: booking.charged,
    ...(retry && {
      ...{ retry_key: retry.key, retry_item: retry.item, retry_request: retry.request },
      ...{ retry_until: retry.untilMs, retry_answered: retry.answered },
    }),
  }
}
