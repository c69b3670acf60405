/**
 * The dependence of a cost on a size: least squares, and the quality of the fit.
 *
 * @module
 */

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Fit {
  /** Coefficients of the two terms, in the order of their names. */
  readonly coefficients: readonly [number, number]
  at(x: number): number
  /** Share of the variance that the fit explains: 1 is a perfect fit. */
  readonly r2: number
  /** The largest distance of a point from the fit, as a share of the fit there. */
  readonly worst: number
}

/** y = a + b x. */
export function fitLine(points: readonly Point[]): Fit {
  return fit(
    points,
    () => 1,
    (x) => x,
  )
}

/** y = b x + c x². */
export function fitCurve(points: readonly Point[]): Fit {
  return fit(
    points,
    (x) => x,
    (x) => x * x,
  )
}

/**
 * The sum of two terms that is nearest to the points.
 *
 * @throws RangeError if the points do not tell the terms apart.
 */
function fit(points: readonly Point[], f: (x: number) => number, g: (x: number) => number): Fit {
  const sum = (of: (point: Point) => number) =>
    points.reduce((total, point) => total + of(point), 0)
  // The normal equations of two unknowns, by Cramer's rule.
  const ff = sum(({ x }) => f(x) ** 2)
  const fg = sum(({ x }) => f(x) * g(x))
  const gg = sum(({ x }) => g(x) ** 2)
  const fy = sum(({ x, y }) => f(x) * y)
  const gy = sum(({ x, y }) => g(x) * y)
  const determinant = ff * gg - fg * fg
  if (!(determinant > 0)) throw new RangeError('a fit needs points of at least two sizes')
  const p = (fy * gg - gy * fg) / determinant
  const q = (gy * ff - fy * fg) / determinant

  const at = (x: number) => p * f(x) + q * g(x)
  const mean = sum(({ y }) => y) / points.length
  const unexplained = sum(({ x, y }) => (y - at(x)) ** 2)
  return {
    coefficients: [p, q],
    at,
    r2: 1 - unexplained / sum(({ y }) => (y - mean) ** 2),
    worst: Math.max(...points.map(({ x, y }) => Math.abs(y / at(x) - 1))),
  }
}
