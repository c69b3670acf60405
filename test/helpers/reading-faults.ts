/**
 * Faults in what a server reads, and in what it makes of an answer.
 */
import { entriesOf, isJsonObject, objectFromEntries, stringifyJson } from '../../src/api/json.js'
import type { Json, JsonObject } from '../../src/api/json.js'
import {
  change,
  changeAnswers,
  changeBodies,
  changeQuestions,
  changeStates,
  type Faults,
  moveAnswers,
} from './fault-changes.js'

const finely = '2.1 state: it is read as finely as instructions: case, spaces, forms of letters'
const wholly = '2.1 state: all of it is read, its beginning and its end'
const asAlone = 'decisions/Batch states: an item is answered as it is alone'
const besideOthers =
  'decisions/Responses no part of an answer goes into the answers beside it, however small'
const alike =
  'decisions/Requests names that only look alike are different names, and come back as they were sent'
const explained = 'decisions/Evidence probabilities follow from logits and temperature'
const readsOptions = '2.2 criteria of choice: names and descriptions are read'

/** Changes the state if it is a text. */
const changeText = (act: (text: string) => string) =>
  changeStates((state) => (typeof state === 'string' ? act(state) : state))

/** Changes the options of each choice. */
const changeOptions = (act: (options: readonly (readonly [string, Json])[]) => JsonObject) =>
  changeQuestions((question) => {
    const { criteria, type } = question
    if (type === 'choice' && isJsonObject(criteria)) {
      question['criteria'] = act(entriesOf(criteria))
    }
  })

/** Changes the evidence of each answer. */
const changeEvidence = (act: (evidence: JsonObject) => void) =>
  changeAnswers(({ evidence }) => {
    if (isJsonObject(evidence)) act(evidence)
  })

/** The second likeliest of a choice, if it is close; else the likeliest. */
function closeSecond({ choice, probabilities }: JsonObject): Json {
  const [first, second] = entriesOf(probabilities as JsonObject).toSorted(
    ([, a], [, b]) => Number(b) - Number(a),
  )
  return second && Number(first![1]) - Number(second[1]) < 0.02 ? second[0] : choice!
}

export const readingFaults: Faults = {
  'repeats a level that is a number as a number': {
    reply: changeAnswers((answer) => {
      const { legend } = answer
      if (!isJsonObject(legend)) return
      for (const [name, level] of entriesOf(legend)) if (level === '1.0') legend[name] = 1
    }),
    fails: ['2.5 legend echoes texts, objects and arrays as sent, other levels as their JSON'],
  },
  'takes a level of null': {
    request: changeQuestions((question) => {
      const { criteria, type } = question
      if (type !== 'score' || !Array.isArray(criteria)) return
      question['criteria'] = criteria.map((level) => level ?? 'null')
    }),
    fails: ['2.2 criteria of score: any JSON value but null describes a level'],
  },
  'reads base64 of audio as text': {
    request: changeStates((state) => {
      const text = stringifyJson(state)
      return text.includes('SUQzBAAAAAAA') ? text : state
    }),
    fails: ['decisions/Requests audio, video and documents are refused with 400 at their place'],
  },
  'throws the descriptions of options away': {
    request: changeOptions((options) => objectFromEntries(options.map(([name]) => [name, null]))),
    fails: [readsOptions],
  },
  'throws away what counts as yes': {
    request: changeQuestions(({ type, criteria, instructions }) => {
      if (type !== 'noul' || !isJsonObject(criteria) || !instructions) return
      for (const name of ['true', 'false']) if (name in criteria) criteria[name] = null
    }),
    fails: ['2.2 criteria of noul: what counts as yes and as no is read'],
  },
  'numbers the levels of a score': {
    request: changeQuestions((question) => {
      const { criteria, type } = question
      if (type !== 'score' || !Array.isArray(criteria)) return
      question['criteria'] = criteria.map((_, i) => `${i}`)
    }),
    fails: [
      '2.2 criteria of score: any JSON value but null describes a level',
      '2.2 criteria of score: the text of each level is read',
      '2.5 legend echoes texts, objects and arrays as sent, other levels as their JSON',
      alike,
      'decisions/Requests one level has probability 1 and confidence 1',
    ],
  },
  'reads the first words of instructions': {
    request: changeQuestions((question) => {
      const { instructions } = question
      if (typeof instructions === 'string') question['instructions'] = instructions.slice(0, 60)
    }),
    fails: ['2.2 instructions are read, all of them'],
  },
  'shows the model the name of a question': {
    request: changeQuestions((question, name) => {
      const { type, instructions } = question
      if (type === 'noul' && instructions) question['instructions'] = [name, instructions]
    }),
    fails: [
      'decisions/Requests question names: renaming a question does not change its answer',
      'decisions/Responses one question asked several times has one answer',
      'decisions/Errors a body in gzip, deflate, br or zstd is answered as the plain one',
    ],
  },
  'reads the beginning of a state': {
    request: changeText((state) => state.slice(0, 500)),
    fails: [
      wholly,
      'decisions/Errors a state that is too long is refused with its token count and the limit',
      'decisions/Models max_state_tokens: a state of nine tenths is answered',
    ],
  },
  'lower-cases the state': {
    request: changeText((state) => state.toLowerCase()),
    fails: [finely],
  },
  'trims the state': {
    request: changeText((state) => state.trim()),
    fails: [finely],
  },
  'normalises the state': {
    request: changeText((state) => state.normalize('NFKC')),
    fails: [finely],
  },
  'joins an array to a text': {
    request: changeStates((state) => {
      const isTexts = Array.isArray(state) && state.every((member) => typeof member === 'string')
      return isTexts ? state.join('\n') : state
    }),
    fails: ['2.1 state: an array is not the text of its members'],
  },
  'shows a state its neighbour': {
    request: changeBodies((body) => {
      const { states } = body
      if (!Array.isArray(states)) return
      body['states'] = states.map((state, i) =>
        typeof state === 'string' && i > 0 ? [states[i - 1]!, state] : state,
      )
    }),
    fails: [asAlone],
  },
  'answers two states alike': {
    reply: change(({ results }) => {
      const [, , first, , , last] = (results ?? []) as JsonObject[]
      if (last && first) last['answers'] = first['answers']!
    }),
    fails: [asAlone, 'decisions/Batch requests: an item is answered as it is alone'],
  },
  'lets a five-hundredth of a noul into the next answer': {
    reply: change(({ answers }) => {
      let before = 0
      for (const [, answer] of entriesOf((answers ?? {}) as JsonObject)) {
        const { noul } = answer as JsonObject
        if (typeof noul !== 'number') continue
        ;(answer as JsonObject)['noul'] = Math.min(1, noul + 0.002 * before)
        before = noul
      }
    }),
    fails: [besideOthers],
  },
  'moves a noul by a five-hundredth beside others': {
    reply: moveAnswers((_, count) => (count > 1 ? 0.002 : 0)),
    fails: [besideOthers, explained],
  },
  'rounds nouls to three digits': {
    reply: changeAnswers((answer) => {
      const { noul } = answer
      if (typeof noul === 'number') answer['noul'] = Math.round(1000 * noul) / 1000
    }),
    fails: ['decisions/Responses the probability of a noul is not rounded', explained],
  },
  'chooses a close second': {
    reply: changeAnswers((answer) => {
      if (answer['type'] === 'choice') answer['choice'] = closeSecond(answer)
    }),
    fails: ['decisions/Responses choice is the likeliest option, however close the second is'],
  },
  'normalises the names of options': {
    request: changeOptions((options) =>
      objectFromEntries(options.map(([name, text]) => [name.normalize('NFC'), text])),
    ),
    fails: [alike],
  },
  'trims the names of questions': {
    request: changeBodies((body) => {
      const { questions } = body
      if (!isJsonObject(questions)) return
      body['questions'] = objectFromEntries(
        entriesOf(questions).map(([name, question]) => [name.trim(), question]),
      )
    }),
    fails: [
      alike,
      'decisions/Requests question names: any string is answered under itself',
      'decisions/Requests order: answers keep that of the questions, integer-like names included',
    ],
  },
  'says that a label is always said': {
    reply: changeEvidence((evidence) => (evidence['label_mass'] = 1)),
    fails: [
      'decisions/Evidence label_mass is a share of all that the model could say, not of the labels',
    ],
  },
  'doubles the logits': {
    reply: changeEvidence((evidence) => {
      evidence['logits'] = (evidence['logits'] as number[]).map((logit) => 2 * logit)
    }),
    fails: [explained],
  },
  'shows evidence to everybody': {
    request: (request) => {
      if (request.path.endsWith('/systemone')) request.headers['x-oi-evidence'] = '1'
    },
    fails: [
      '2.4 the body has model, answers, usage and latency_ms, and nothing else',
      '2.5 an answer has the fields of its type, and nothing else',
      'decisions/Requests one option has probability 1 and confidence 1',
      'decisions/Requests one level has probability 1 and confidence 1',
    ],
  },
}
