/**
 * What the best of three independent trials is not content with: nothing, if one of them was good.
 *
 * Only where a test needs several threads to run side by side, and can neither bring that about
 * nor wait for it: on a machine that others use too, any thread may stand still for a second, and
 * that must not be taken for a fault. What the code does wrong, it does in all three.
 *
 * @param trial - Says what is wrong, `undefined` if nothing is. Told which one it is.
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
