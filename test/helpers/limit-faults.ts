/**
 * Faults in the rules on which an answer depends, and in the limits that a server reports.
 */
import type { JsonObject } from '../../src/api/json.js'
import { change, changeLimits, type Faults, moveAnswers, seenBefore } from './fault-changes.js'

export const limitFaults: Faults = {
  'lets a question move the answers beside it': {
    reply: moveAnswers((_, count) => 0.02 * Math.min(4, count - 1)),
    fails: [
      'decisions/Responses an answer does not hang on the questions beside it',
      'decisions/Evidence probabilities follow from logits and temperature',
      'decisions/Responses an answer from a cache is the same',
    ],
  },
  'favours the first question': {
    reply: moveAnswers((place, count) => (place === 0 && count > 1 ? 0.05 : 0)),
    fails: [
      'decisions/Responses an answer does not hang on its place among the questions',
      'decisions/Responses one question asked several times has one answer',
      'decisions/Evidence probabilities follow from logits and temperature',
      'decisions/Responses an answer from a cache is the same',
    ],
  },
  'answers otherwise from its cache': {
    reply: moveAnswers(seenBefore(0.05)),
    fails: ['decisions/Responses an answer from a cache is the same'],
  },
  'takes an empty description for one': {
    request: (request) => {
      request.body = Buffer.from(
        request.body.toString('latin1').replaceAll(':""', ':"-"'),
        'latin1',
      )
    },
    fails: ['2.2 criteria of choice: null and "" mean by its name alone'],
  },
  'understates the items of a batch': {
    reply: changeLimits((limits) => (limits['max_batch'] = 200)),
    fails: [
      'decisions/Models max_batch: more items are refused with 400, of requests and of states',
    ],
  },
  'overstates the items of a batch': {
    reply: changeLimits((limits) => (limits['max_batch'] = 300)),
    fails: [
      'decisions/Batch as many items as the model takes are answered',
      'decisions/Models max_batch: more items are refused with 400, of requests and of states',
      'decisions/Models max_reply_bytes: what would be a longer reply is refused with 400, before any work',
      'decisions/Keys, workspaces, limits, money a batch of more items than the workspace has places is answered',
    ],
  },
  'understates the questions of a request': {
    reply: changeLimits((limits) => (limits['max_questions'] = 100)),
    fails: ['8 more questions are refused with 400'],
  },
  'overstates the length of a state': {
    reply: changeLimits((limits) => (limits['max_state_tokens']! *= 2)),
    fails: [
      'decisions/Errors a state that is too long is refused with its token count and the limit',
      'decisions/Models max_state_tokens: a state of nine tenths is answered',
    ],
  },
  'says no limit of a reply': {
    reply: changeLimits((limits) => delete limits['max_reply_bytes']),
    fails: [
      'decisions/Models limits are whole numbers',
      'decisions/Models max_reply_bytes: what would be a longer reply is refused with 400, before any work',
    ],
  },
  'understates what a body may have': {
    reply: changeLimits((limits) => (limits['max_body_bytes'] = 2 ** 20)),
    fails: [
      'decisions/Errors 413: a compressed body that comes to more than a body may be',
      'decisions/Errors 413 is seen by a client that sends everything before it reads',
      'decisions/Models max_body_bytes: a body of so many bytes is read, and one more byte is 413',
    ],
  },
  'understates the options of a request': {
    reply: changeLimits((limits) => (limits['max_options_per_request'] = 4096)),
    fails: [
      'decisions/Models max_options_per_request: more options of all questions together are refused with 400',
    ],
  },
}

/** The same for a server whose model sees images, for the rules about images. */
export const imageFaults: Faults = {
  'ignores max_pixels': {
    request: (request) => {
      const text = request.body.toString('latin1').replace(/,"max_pixels":4096\b/, '')
      request.body = Buffer.from(text, 'latin1')
    },
    fails: ['2.3 max_pixels: a larger picture is scaled down to so many'],
  },
  'understates the images of a request': {
    reply: changeLimits((limits) => (limits['max_images'] = 7)),
    fails: ['decisions/Images max_images: so many images are seen, and more are refused with 400'],
  },
  'reads one form of pictures as text': {
    reply: (reply, request) => {
      if (request.body.includes('"inlineData"')) moveAnswers(() => 0.05)(reply, request)
    },
    fails: ['decisions/Images every form of a picture in the state is the same picture'],
  },
  'counts no pictures beside the state': {
    reply: (reply, { body }) => {
      if (!body.includes('"images":"data:')) return
      change(({ usage }) => delete (usage as JsonObject | undefined)?.['image_tokens'])(reply)
    },
    fails: ['decisions/Images every form of a picture beside the state is the same picture'],
  },
  'reads no parts': {
    reply: (reply, { headers }) => {
      if (headers['content-type']?.startsWith('multipart/')) reply.status = 400
    },
    fails: [
      'decisions/Images every form of a picture in the state is the same picture',
      'decisions/Images a body in parts may be compressed',
      'decisions/Images parts that lie are refused with 400',
    ],
  },
  'reads whatever parts it finds': {
    reply: (reply, { headers }) => {
      if (headers['content-type']?.startsWith('multipart/')) reply.status = 200
    },
    fails: ['decisions/Images parts that lie are refused with 400'],
  },
  'ignores assets that are named nowhere': {
    reply: (reply, { body }) => {
      if (body.includes('"state":"x","assets"')) reply.status = 200
    },
    fails: ['decisions/Images an asset that is named nowhere is refused with 400'],
  },
  'ignores videos': {
    reply: (reply, { body }) => {
      if (body.includes('"videos"')) reply.status = 200
    },
    fails: ['decisions/Images media that no model reads are refused with 400, not ignored'],
  },
}

/** The same for a server whose model reads text only, for all rules. */
export const blindFaults: Faults = {
  'reads a picture as text': {
    reply: (reply, { body }) => {
      if (body.includes('"base64":"iVBOR')) reply.status = 200
    },
    fails: ['decisions/Images a model without vision refuses every form with 400 at its place'],
  },
}
