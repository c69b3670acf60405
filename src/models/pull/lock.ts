/**
 * A lock on a model's name, which one process can hold.
 *
 * Rules
 *   1. A lock is a numbered file, `NAME.lock.7`, that names its owner. The owner of the file with
 *      the highest number holds the lock, unless the file says that it was released, or its owner
 *      has ended: then the process that makes the file with the next number holds it. No file is
 *      removed to be replaced, so two processes that find the same owner gone cannot both get the
 *      lock.
 *   2. The owner touches its file every few seconds, to show other machines that it is alive.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { getPriority, hostname } from 'node:os'
import { join } from 'node:path'
import { OiError } from '../../errors.js'

const touchMs = 5_000
/** A file untouched for this long has no owner, whatever it says. */
const staleMs = 60_000

/**
 * Runs a task while this process holds the lock.
 *
 * @param folder - The existing folder of the locks.
 * @param name - The model's name.
 * @param task - Its signal aborts if the lock is lost, as when this machine has slept.
 * @throws {@link OiError} `ERR_PULL` if another process holds the lock; what the task throws.
 */
export async function withLock<T>(
  folder: string,
  name: string,
  task: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const number = await take(folder, name)
  const path = join(folder, `${name}.lock.${number}`)
  const lost = new AbortController()
  const touch = setInterval(() => {
    const now = new Date()
    void utimes(path, now, now)
      .then(() => numbersOf(folder, name))
      .then((numbers) => numbers.some((other) => other > number) && lost.abort())
      .catch(() => lost.abort())
  }, touchMs)
  try {
    return await task(lost.signal)
  } finally {
    clearInterval(touch)
    await truncate(path).catch(() => {})
  }
}

async function take(folder: string, name: string): Promise<number> {
  const pathOf = (number: number) => join(folder, `${name}.lock.${number}`)
  const own = join(folder, `${name}.lock.${randomUUID()}`)
  await writeFile(own, JSON.stringify({ host: hostname(), pid: process.pid }))
  try {
    for (;;) {
      const last = Math.max(0, ...(await numbersOf(folder, name)))
      const owner = last === 0 ? undefined : await ownerOf(pathOf(last))
      if (owner !== undefined) {
        throw new OiError('ERR_PULL', `${name} is being pulled or removed by process ${owner}`)
      }
      const number = last + 1
      // Created whole, and only if there is no such file.
      if (!(await linked(own, pathOf(number)))) continue
      const numbers = await numbersOf(folder, name)
      // Other processes may have made files since the numbers were read.
      if (Math.max(...numbers) !== number) {
        await rm(pathOf(number), { force: true })
        continue
      }
      const older = numbers.filter((other) => other < number)
      await Promise.all(older.map((other) => rm(pathOf(other), { force: true })))
      return number
    }
  } finally {
    await rm(own, { force: true })
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function numbersOf(folder: string, name: string): Promise<number[]> {
  const prefix = `${name}.lock.`
  const names = (await readdir(folder)).filter((file) => file.startsWith(prefix))
  return names.map((file) => Number(file.slice(prefix.length))).filter(Number.isSafeInteger)
}

/** @returns Undefined if the lock has no owner any more. */
async function ownerOf(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    const { mtimeMs } = await stat(path)
    if (text === '' || Date.now() - mtimeMs > staleMs) return undefined
    const { host, pid } = JSON.parse(text) as { host: string; pid: number }
    if (host !== hostname()) return `${pid} of ${host}`
    return isAlive(pid) ? String(pid) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    getPriority(pid)
    return true
  } catch {
    return false
  }
}
