/**
 * The wire's types, written for people (`src/decide/types.ts` for the library,
 * `src/client/types.ts` for the client), equal those of its schemas, in both directions. The
 * compiler is the test: a member that is missing or different in one of them is an error here.
 *
 * Not compared: `readonly`, an optional member's `undefined`, and the form of a JSON value
 * (`unknown` in schemas, `Json` in the library, any object in the client).
 */
import type { Static } from 'typebox'
import type * as answers from '../../src/api/answer-schemas.js'
import type * as batches from '../../src/api/batch-schemas.js'
import type { Json } from '../../src/api/json.js'
import type * as models from '../../src/api/model-schemas.js'
import type * as requests from '../../src/api/request-schemas.js'
import type * as usage from '../../src/api/usage-schema.js'
import type * as client from '../../src/client/types.js'
import type { UsageReport } from '../../src/client/usage-report.js'
import type * as library from '../../src/decide/types.js'

interface AnyJson {
  readonly json: true
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

type Plain<T> =
  Same<T, unknown> extends true
    ? AnyJson
    : Same<T, Json> extends true
      ? AnyJson
      : Same<T, Exclude<Json, null>> extends true
        ? AnyJson
        : Same<T, Exclude<client.JsonInput, null>> extends true
          ? AnyJson
          : Same<T, client.JsonInput> extends true
            ? AnyJson
            : T extends readonly (infer Item)[]
              ? Plain<Item>[]
              : T extends object
                ? { -readonly [K in keyof T]: Plain<Exclude<T[K], undefined>> }
                : T

/** Identical, not only assignable: a missing optional member would be assignable. */
type Identical<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type Equal<Schema, Own> = Identical<Plain<Schema>, Plain<Own>>

/** A state is one of these, which the library's `Json` and the client's `object` both are. */
type WithoutState<T> = Omit<T, 'state' | 'states'>

/** Members with which the client's types tell results apart, and the library's for the server. */
type OnWire<T> = T extends unknown ? Omit<T, Absent<T>> : never
type Absent<T> = { [K in keyof T]-?: [T[K]] extends [undefined] ? K : never }[keyof T]
type Body = Omit<library.Decision, 'cached_tokens' | 'timings'>

type RequestOf = Static<typeof requests.RequestSchema>
type Limits = Static<typeof models.ModelCardSchema>['limits']
type ServersOwn = 'max_body_bytes' | 'max_reply_bytes'

/** Each of them is `true`, or this does not compile. */
export type Checks = Expect<
  [
    // Questions
    Equal<Static<typeof requests.NoulQuestionSchema>, library.NoulQuestion>,
    Equal<Static<typeof requests.ChoiceQuestionSchema>, library.ChoiceQuestion>,
    Equal<Static<typeof requests.ScoreQuestionSchema>, library.ScoreQuestion>,
    Equal<Static<typeof requests.NoulQuestionSchema>, client.NoulQuestion>,
    Equal<Static<typeof requests.ChoiceQuestionSchema>, client.ChoiceQuestion>,
    Equal<Static<typeof requests.ScoreQuestionSchema>, client.ScoreQuestion>,
    // Requests; images have other schemas, for the document alone
    Equal<
      WithoutState<RequestOf>,
      Omit<library.DecideRequest, 'state' | 'image' | 'images' | 'assets'>
    >,
    Equal<WithoutState<RequestOf>, Omit<client.DecideRequest, 'state' | 'images'>>,
    Equal<
      WithoutState<Static<typeof batches.BatchStatesSchema>>,
      WithoutState<client.BatchOfStates>
    >,
    Equal<Static<typeof batches.NamedSchema>, Pick<client.BatchRequest, 'id'>>,
    // Answers
    Equal<Static<typeof answers.EvidenceSchema>, library.Evidence>,
    Equal<Static<typeof answers.NoulAnswerSchema>, library.NoulAnswer>,
    Equal<Static<typeof answers.ChoiceAnswerSchema>, library.ChoiceAnswer>,
    Equal<Static<typeof answers.ScoreAnswerSchema>, library.ScoreAnswer>,
    Equal<Static<typeof answers.UsageSchema>, library.Usage>,
    Equal<Static<typeof answers.ResponseSchema>, Body>,
    Equal<Static<typeof answers.ResponseSchema>, client.Decision>,
    // Batches
    Equal<Static<typeof batches.BatchAnsweredSchema>, OnWire<client.BatchAnswered>>,
    Equal<Static<typeof batches.BatchFailedSchema>, OnWire<client.BatchRefused>>,
    Equal<Static<typeof batches.BatchTotalsSchema>, client.BatchTotals>,
    // Models; what a server allows besides is not the library's concern
    Equal<Omit<Static<typeof models.ModelCardSchema>, 'limits'>, Omit<library.ModelCard, 'limits'>>,
    Equal<Omit<Limits, ServersOwn>, library.ModelCard['limits']>,
    Equal<Static<typeof models.ModelCardSchema>, client.ModelCard>,
    // Usage
    Equal<Static<typeof usage.UsageReportSchema>, UsageReport>,
  ]
>

type Expect<T extends readonly true[]> = T
