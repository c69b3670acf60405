/** Exit codes of the process. Usage: a wrong command, flag, variable or setting. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const
