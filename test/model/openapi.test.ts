/**
 * The examples of the OpenAPI document, answered by a model.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { sendExamples } from '../helpers/openapi-examples.js'
import { withRealServer } from '../helpers/real-server.js'

t.test('a model answers the examples as documented', (t) =>
  withRealServer({}, async (server) => {
    const sent = await sendExamples(t, server, server.decider.card.modalities)
    t.ok(sent.length >= 6)
  }),
)
