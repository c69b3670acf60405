/**
 * A reader of Prometheus' text format that refuses everything that the format forbids.
 */

export interface Family {
  readonly type: string
  readonly help: string
  /** Name and labels as in the text, such as `a_total{b="c"}` -> value. */
  readonly samples: Map<string, number>
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const sampleLine = new RegExp(
  `^(${name})(\\{${label}(?:,${label})*\\})? ([+-]?Inf|NaN|-?\\d[\\d.]*(?:e[+-]?\\d+)?)$`,
)
const suffixes = { histogram: /_(?:bucket|sum|count)$/, summary: /_(?:sum|count)$/ } as const

/** @returns The families by name. @throws Naming the first forbidden line. */
export function readPrometheus(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, Family>()
  let help: [string, string] | undefined
  let current: [string, Family] | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const described = new RegExp(`^# HELP (${name}) (.+)$`).exec(line)
    const typed = new RegExp(`^# TYPE (${name}) (counter|gauge|histogram|summary)$`).exec(line)
    const sampled = sampleLine.exec(line)
    if (described) {
      help = [described[1]!, described[2]!]
    } else if (help && typed && help[0] === typed[1] && !families.has(typed[1])) {
      current = [typed[1], { type: typed[2]!, help: help[1], samples: new Map() }]
      families.set(...current)
    } else if (sampled && current && belongs(sampled[1]!, current)) {
      const key = `${sampled[1]}${sampled[2] ?? ''}`
      if (current[1].samples.has(key)) throw new Error(`twice: ${line}`)
      current[1].samples.set(key, Number(sampled[3]!.replace('Inf', 'Infinity')))
    } else {
      throw new Error(`not allowed here: ${line}`)
    }
  }
  return families
}

function belongs(sample: string, [family, { type }]: [string, Family]): boolean {
  const suffix = suffixes[type as keyof typeof suffixes]
  return suffix === undefined ? sample === family : sample.replace(suffix, '') === family
}
