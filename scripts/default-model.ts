/**
 * Gives a checkout a model to start with: the dense fixture, until somebody links another.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { defaultModelLink, defaultModelPath } from '../src/models/default-model.js'
import { ensureModel } from './make-model/ensure.js'

const fixture = 'fixture-dense'

/** Makes the fixture and links it, unless the link leads to a model of the user's own. */
export async function ensureDefaultModel(): Promise<void> {
  const current = defaultModelPath()
  if (current !== undefined && !basename(current).startsWith(`${fixture}-`)) return
  const made = await ensureModel(fixture)
  if (made === current) return
  linkModel(defaultModelLink(), made)
  console.log(`The default model is ${basename(made)} now: random weights, for trying out.`)
}

/** Points `link` at `file` in the same folder. There is a whole link at every moment. */
export function linkModel(link: string, file: string): void {
  mkdirSync(dirname(link), { recursive: true })
  const next = `${link}-${randomUUID()}`
  symlinkSync(basename(file), next)
  renameSync(next, link)
}
