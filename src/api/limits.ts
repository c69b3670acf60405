/**
 * Limits of the wire, independent of the model.
 *
 * @module
 */

/** Options of a choice and levels of a score, at most. */
export const mostOptions = 255

/** Requests of one batch, at most. */
export const mostItems = 256

/** Options of all questions of one request together, at most; a noul has two. */
export const mostOptionsOfRequest = 16_384
