/**
 * A lock that one process has on a model's name.
 *
 * Rules
 *   1. It is a file with a number, `NAME.lock.7`, that tells who made it. Who made the one with the
 *      highest number has the lock, unless the file says that it was given back, or its owner has
 *      ended: then whoever makes the next number has it. No file is taken away to be replaced, so
 *      that two that find the same owner gone cannot both get it.
 *   2. The owner touches its file every few seconds, which tells other machines that it lives.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { getPriority, hostname } from 'node:os'
import { join } from 'node:path'
import { OiError } from '../../errors.js'

const touchMs = 5_000
/** Untouched for so long, it has no owner, whatever it says. */
const staleMs = 60_000

/**
 * Runs a task while no other process has the lock.
 *
 * @param folder - Where locks are; it is there.
 * @param name - Of what is locked.
 * @param task - Told to end if the lock is lost, as to a machine that slept for a while.
 * @throws {@link OiError} `ERR_PULL` if another process has it; what the task throws.
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
      // Made whole, and only where there is none.
      if (!(await linked(own, pathOf(number)))) continue
      const numbers = await numbersOf(folder, name)
      // Others may have come and gone since the numbers were read.
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

/** @returns Undefined if there is none any more. */
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
