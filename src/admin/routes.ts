/**
 * Matches a request with an operation of the admin API.
 *
 * @module
 */

import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
  adminPath,
} from '../api/admin/operations.js'
import { OiError } from '../errors.js'

interface Match {
  readonly operationId: AdminOperationId
  readonly operation: AdminOperation
  /** The `{id}` of the path; 0: none. */
  readonly id: number
  /** The `{name}` of the path, decoded; `''`: none. */
  readonly name: string
}

interface Route {
  readonly operationId: AdminOperationId
  readonly operation: AdminOperation
  readonly path: RegExp
}

const routes: readonly Route[] = Object.entries<AdminOperation>(adminOperations).map(
  ([operationId, operation]) => {
    const pattern = operation.path.replaceAll('{id}', '(?<id>[1-9]\\d{0,14})')
    const path = new RegExp(`^${adminPath}${pattern.replaceAll('{name}', '(?<name>[^/]+)')}$`)
    return { operationId: operationId as AdminOperationId, operation, path }
  },
)

/**
 * @param method - In lower case; HEAD counts as GET.
 * @param path - A result of `pathOf`.
 * @returns The operation, or the methods that the path takes.
 * @throws {@link OiError} `ERR_NOT_FOUND` if no operation has the path.
 */
export function matchOperation(method: string, path: string): Match | { readonly allow: string } {
  const wanted = method === 'head' ? 'get' : method
  const allowed: string[] = []
  for (const { operationId, operation, path: pattern } of routes) {
    const found = pattern.exec(path)
    if (found === null) continue
    if (operation.method === wanted) {
      const { id, name } = found.groups ?? {}
      return { operationId, operation, id: Number(id ?? 0), name: decoded(name ?? '') }
    }
    allowed.push(operation.method.toUpperCase(), ...(operation.method === 'get' ? ['HEAD'] : []))
  }
  if (allowed.length > 0) return { allow: allowed.join(', ') }
  const message = `There is no such route: GET ${adminPath}/openapi.json has all of them`
  throw new OiError('ERR_NOT_FOUND', message)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new OiError('ERR_NOT_FOUND', 'The path is not valid percent-encoding')
  }
}
