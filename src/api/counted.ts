/**
 * Numbers of things, in messages.
 *
 * @module
 */

/** `1 key`, `2 keys`. @param many - For what takes no plain `s`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
