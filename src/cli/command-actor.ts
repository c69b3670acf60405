/**
 * Who runs a command, as the audit log calls them.
 *
 * @module
 */

import { userInfo } from 'node:os'
import type { Actor } from '../accounts/administration.js'

export function commandActor(): Actor {
  return { kind: 'command', detail: userName() }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In containers, a user may be a number only.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
