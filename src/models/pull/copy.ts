/**
 * Copies one local file into a folder.
 *
 * @module
 */

import { constants } from 'node:fs'
import { copyFile, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OiError } from '../../errors.js'
import { sha256Of } from '../file-facts.js'
import type { PulledFile } from '../pulled-models.js'
import type { DownloadOptions } from './download.js'
import { finishedSha256, finishFile } from './part-file.js'
import type { LocalFile } from './plan.js'

type CopyOptions = Pick<
  DownloadOptions,
  'onBytes' | 'onResume' | 'onChecked' | 'requireRoom' | 'signal'
>

/**
 * Copies a file; shares its blocks if the file system can.
 *
 * @throws {@link OiError} `ERR_PULL`; the system's error.
 */
export async function copyLocal(
  file: LocalFile,
  folder: string,
  options: CopyOptions,
): Promise<PulledFile> {
  const path = join(folder, file.name)
  const { name, bytes, tag } = file
  const version = { sha256: file.sha256 ?? '', source: file.path, tag, bytes }
  const finished = finishedSha256(path, version)
  if (finished !== undefined) {
    options.onResume(bytes)
    options.onChecked(bytes)
    return { name, bytes, sha256: finished, version: tag }
  }
  const part = `${path}.part`
  await rm(part, { force: true })
  await copyFile(file.path, part, constants.COPYFILE_FICLONE_FORCE).then(
    () => options.onBytes(bytes),
    async () => {
      await options.requireRoom(bytes)
      await copyBytes(file.path, part, options)
    },
  )
  const sha256 = await sha256Of(part, options.onChecked, options.signal)
  if (file.sha256 !== undefined && sha256 !== file.sha256) {
    await rm(part, { force: true })
    throw new OiError('ERR_PULL', `${file.path}: its SHA-256 is ${sha256}, expected ${file.sha256}`)
  }
  await finishFile(part, path, { version, sha256 })
  return { name, bytes, sha256, version: tag }
}

async function copyBytes(from: string, to: string, { onBytes, signal }: CopyOptions) {
  const source = await open(from)
  try {
    const target = await open(to, 'w')
    try {
      const stream = source.createReadStream({ highWaterMark: 4 << 20, autoClose: false })
      for await (const piece of stream) {
        if (signal?.aborted) throw new OiError('ERR_ABORTED', 'The pull was cancelled')
        await target.writeFile(piece as Buffer)
        onBytes((piece as Buffer).length)
      }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}
