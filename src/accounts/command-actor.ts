import { userInfo } from 'node:os'
import type { Actor } from './audit.js'

/** The user of a command, as the audit log names them. */
export function commandActor(): Actor {
  return { kind: 'command', detail: userName() }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In containers, a user may have a number only.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
