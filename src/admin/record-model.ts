/**
 * The entry in the audit log of a change of a model.
 *
 * @module
 */

import type { Administration } from '../accounts/administration.js'
import { patiently } from './patiently.js'

/** @param administration - Names the actor. @param after - What it is now. */
export async function recordModel(
  administration: Administration,
  action: string,
  name: string,
  after: Readonly<Record<string, unknown>>,
): Promise<void> {
  const deed = { action, target: `model ${name}`, name }
  await patiently(() => administration.record(deed, null, after))
}
