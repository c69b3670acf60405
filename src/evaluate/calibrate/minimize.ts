/**
 * Finds a minimum of a smooth function of two variables.
 *
 * @module
 */

export type Point = readonly [number, number]

/** A function at one point. */
export interface Curve {
  readonly value: number
  readonly gradient: Point
  /** Second derivatives: by the first variable, mixed, by the second. */
  readonly hessian: readonly [number, number, number]
}

/** A shorter step than this ends the search: the precision of ln T. */
const tolerance = 1e-9
/** Relative rounding error of a sum. */
const rounding = 1e-13
const mostSteps = 200

/**
 * Newton's method, damped (Levenberg, Marquardt) where a step would lead uphill or the curvature
 * is not positive; so it never goes up, and reaches a minimum from any start.
 *
 * @returns The nearest minimum downhill of `start`.
 * @see J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd ed. 2006, chapters 3 and 10.
 */
export function minimize(at: (point: Point) => Curve, start: Point): Point {
  let point = start
  let here = at(point)
  let damping = 0
  for (let i = 0; i < mostSteps; i++) {
    const step = newtonStep(here, damping)
    if (step === undefined) {
      damping = more(damping)
      continue
    }
    const next: Point = [point[0] + step[0], point[1] + step[1]]
    const length = Math.hypot(...step)
    const there = at(next)
    if (there.value <= here.value + rounding * Math.abs(here.value)) {
      point = next
      here = there
      damping = damping < 1e-6 ? 0 : damping / 10
      if (length < tolerance) break
    } else {
      // If no step leads down, only rounding errors are left.
      if (length < tolerance) break
      damping = more(damping)
    }
  }
  return point
}

function more(damping: number): number {
  return damping === 0 ? 1e-3 : 10 * damping
}

/** Undefined if the damped curvature is not positive. */
function newtonStep({ gradient, hessian }: Curve, damping: number): Point | undefined {
  const [a, mixed, b] = hessian
  const [g, h] = gradient
  const first = a + damping * (1 + Math.abs(a))
  const second = b + damping * (1 + Math.abs(b))
  const determinant = first * second - mixed * mixed
  if (!(first > 0 && determinant > 0)) return undefined
  return [-(second * g - mixed * h) / determinant, -(first * h - mixed * g) / determinant]
}
