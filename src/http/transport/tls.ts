/**
 * A server's certificate and key, checked before they are used: OpenSSL's error messages say
 * little.
 *
 * @module
 */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { OiError } from '../../errors.js'

export interface TlsFiles {
  /** PEM: the server's certificate first, then the chain to a known authority. */
  readonly certFile: string
  /** PEM, without a passphrase. */
  readonly keyFile: string
}

/** The content of the files, in PEM form. */
export interface TlsContent {
  readonly cert: string
  readonly key: string
  /** When the certificate expires, milliseconds since 1970. */
  readonly endMs: number
}

/** The part that TLS needs. */
export const contextOf = ({ cert, key }: TlsContent) => ({ cert, key })

/**
 * Reads both files, and checks that they can be used.
 *
 * @throws {@link OiError} `ERR_CONFIG` naming the setting, the file and what is expected.
 */
export function readTls({ certFile, keyFile }: TlsFiles): TlsContent {
  const cert = parse('--tls-cert', certFile, 'a certificate', (pem) => {
    // Without this check the binary form passes, which the server cannot read.
    if (!pem.includes('-----BEGIN')) throw new Error('it is no PEM')
    return new X509Certificate(pem)
  })
  const key = parse('--tls-key', keyFile, 'a private key without a passphrase', createPrivateKey)
  if (!cert.meaning.checkPrivateKey(key.meaning)) {
    throw new OiError('ERR_CONFIG', `--tls-key: ${keyFile} does not belong to ${certFile}`)
  }
  return { cert: cert.pem, key: key.pem, endMs: Date.parse(cert.meaning.validTo) }
}

function parse<T>(
  flag: string,
  file: string,
  what: string,
  read: (pem: string) => T,
): { pem: string; meaning: T } {
  let pem: string
  try {
    pem = readFileSync(file, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such file' : message
    throw new OiError('ERR_CONFIG', `${flag}: cannot read ${file}: ${reason}`, { cause })
  }
  try {
    return { pem, meaning: read(pem) }
  } catch (cause) {
    throw new OiError('ERR_CONFIG', `${flag}: expected ${what} in PEM form, got ${file}`, { cause })
  }
}
