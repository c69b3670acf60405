/**
 * Which callers share the states that a model has evaluated: `--share-states`.
 *
 * The time of an answer tells whether its state was known, so who shares a state can find out what
 * the others have asked.
 *
 * @module
 */

import type { Caller } from '../../accounts/known-keys.js'

/** Callers that share states: those of a workspace, all, or those with the same key. */
export type ShareStates = 'workspace' | 'all' | 'key'

/**
 * Gives each caller a text that callers have in common if they share states.
 *
 * It outlives the data folder, as states on disk do: so a workspace or a key of another folder with
 * the same number has another text.
 */
export function stateScopes(share: ShareStates): (caller: Caller) => string {
  // Of callers that many requests have.
  const known = new WeakMap<Caller, string>()
  return (caller) => {
    let scope = known.get(caller)
    if (scope === undefined) known.set(caller, (scope = scopeText(share, caller)))
    return scope
  }
}

function scopeText(share: ShareStates, caller: Caller): string {
  const { workspaceId, workspaceMadeMs = 0, keyId } = caller
  const workspace = `workspace ${workspaceId} of ${workspaceMadeMs}`
  if (share === 'all') return ''
  return share === 'key' ? `${workspace}, key ${keyId}` : workspace
}
