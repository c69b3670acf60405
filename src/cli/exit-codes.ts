import type { Dependencies } from '../server/dependencies.js'

/** Exit codes of the process. Usage: a wrong command, flag, variable or setting. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const

/** What a command is given. */
export interface CommandDependencies extends Dependencies {
  /** Says the exit code of a command that ends without an error; 0 if it is not called. */
  readonly done: (code: number) => void
}
