/**
 * The complaint of the best of three independent trials: none if one of them was good.
 *
 * Only for tests that need several threads to run side by side and can neither cause that nor wait
 * for it: on a shared machine any thread may stand still for a second, which is not a fault. A real
 * fault shows in all three trials.
 *
 * @param trial - Returns what is wrong, or `undefined`. Gets its number.
 */
export async function bestOfThree(
  trial: (number: number) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const number of [1, 2, 3]) {
    const said = await trial(number)
    if (said === undefined) return []
    wrong.push(said)
  }
  return wrong
}
