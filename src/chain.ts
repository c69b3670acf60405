/**
 * A list that its members join at the end and leave from anywhere.
 *
 * A Map or a Set would do, but not for what each request joins and leaves: V8 replaces their tables
 * all the time, and a table in the old generation references the next table, and so on, with all
 * requests in them. So no request would be freed young, however short its life. Here, a removed
 * link references nothing.
 *
 * @module
 */

export interface Link<T> {
  readonly value: T
}

interface Node<T> extends Link<T> {
  before: Node<T> | undefined
  after: Node<T> | undefined
  joined: boolean
}

export class Chain<T> {
  #first: Node<T> | undefined
  #last: Node<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The oldest member. */
  get first(): Link<T> | undefined {
    return this.#first
  }

  /** @returns What {@link remove} takes. */
  add(value: T): Link<T> {
    const node: Node<T> = { value, before: this.#last, after: undefined, joined: true }
    if (this.#last === undefined) this.#first = node
    else this.#last.after = node
    this.#last = node
    this.#size++
    return node
  }

  /** Idempotent. @param link - Of this chain; undefined does nothing. */
  remove(link: Link<T> | undefined): void {
    const node = link as Node<T> | undefined
    if (!node?.joined) return
    const { before, after } = node
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    node.before = node.after = undefined
    node.joined = false
    this.#size--
  }

  /** A copy of the members, which later changes do not touch. */
  values(): T[] {
    const values: T[] = []
    for (let node = this.#first; node !== undefined; node = node.after) values.push(node.value)
    return values
  }
}
