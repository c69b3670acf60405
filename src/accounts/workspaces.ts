/**
 * Workspaces: made, renamed, archived, found.
 *
 * @module
 */

import { shellArgument } from '../api/words.js'
import { OiError } from '../errors.js'
import type { Changes } from './changes.js'
import { checkName } from './names.js'
import { type Connection, execute } from './store/connection.js'
import { standardConcurrent } from './store/schema.js'
import { type Terms, termsColumns, type TermsRow, type WorkspaceTerms } from './terms.js'

export interface Workspace extends WorkspaceTerms {
  readonly id: number
  readonly name: string
  readonly createdMs: number
  /** Since when its keys are refused; null: it is in use. */
  readonly archivedMs: number | null
}

type Row = TermsRow & Pick<Workspace, 'name' | 'createdMs' | 'archivedMs'>

const select = `SELECT id, name, created_ms AS createdMs, archived_ms AS archivedMs, ${termsColumns}
  FROM workspaces`

export class Workspaces {
  readonly #db: Connection
  readonly #changes: Changes
  readonly #terms: Terms

  constructor(db: Connection, changes: Changes, terms: Terms) {
    this.#db = db
    this.#changes = changes
    this.#terms = terms
  }

  /**
   * @throws {@link OiError} `ERR_CONFLICT` if the name is taken, `ERR_ACCOUNTS` if it is invalid.
   */
  create(name: string): Workspace {
    this.#requireFree(name)
    this.#changes.mark()
    const sql = 'INSERT INTO workspaces (name, created_ms, concurrent) VALUES (?, ?, ?)'
    execute(this.#db, sql, name, Date.now(), standardConcurrent)
    return this.get(name)
  }

  /** @throws {@link OiError} As {@link create}. @param id - Of an existing workspace. */
  rename(id: number, name: string): void {
    this.#requireFree(name, id)
    this.#set(id, 'name', name)
  }

  /** From the next request on its keys are refused, or no longer. Everything else stays. */
  archive(id: number, archived: boolean): void {
    const { archivedMs } = this.get(id)
    this.#set(id, 'archived_ms', archived ? (archivedMs ?? Date.now()) : null)
  }

  /** Oldest first. */
  list(): Workspace[] {
    return this.#db.read(() =>
      this.#db
        .prepare<[], Row>(`${select} ORDER BY id`)
        .all()
        .map((row) => this.#from(row)),
    )
  }

  /**
   * @param name - Its name, or its id.
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such workspace.
   */
  get(name: string | number): Workspace {
    const workspace = this.#find(name)
    if (workspace !== undefined) return workspace
    const remedy = typeof name === 'string' ? `: oi workspaces create ${shellArgument(name)}` : ''
    throw new OiError('ERR_NOT_FOUND', `There is no workspace ${JSON.stringify(name)}${remedy}`)
  }

  #find(name: string | number): Workspace | undefined {
    const by = typeof name === 'string' ? 'name' : 'id'
    return this.#db.read(() => {
      const row = this.#db.prepare<[string | number], Row>(`${select} WHERE ${by} = ?`).get(name)
      return row && this.#from(row)
    })
  }

  #from(row: Row): Workspace {
    const { id, name, createdMs, archivedMs } = row
    return { id, name, createdMs, archivedMs, ...this.#terms.from(row) }
  }

  #set(id: number, column: 'name' | 'archived_ms', value: string | number | null): void {
    execute(this.#db, `UPDATE workspaces SET ${column} = ? WHERE id = ?`, value, id)
    this.#changes.mark()
  }

  /** @param id - The workspace that may have the name already. */
  #requireFree(name: string, id?: number): void {
    checkName('workspace', name)
    const taken = this.#find(name)
    if (taken === undefined || taken.id === id) return
    throw new OiError('ERR_CONFLICT', `There is a workspace "${name}" already`)
  }
}
