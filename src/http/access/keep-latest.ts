/**
 * Sets an entry of a map that keeps the latest ones: a bound on memory.
 *
 * @module
 */

/** @param most - Beyond it, the entry that was set longest ago is forgotten. */
export function keepLatest<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  // Deleted first: an entry that is only replaced would keep its old position.
  map.delete(key)
  if (map.size >= most) map.delete(map.keys().next().value!)
  map.set(key, value)
}
