/**
 * Texts of exact token counts. Needs the built addon and makes a fixture; its vocabulary is real.
 */
import t from 'tap'
import { Requests } from '../../scripts/bench/requests.js'
import { Texts } from '../../scripts/bench/texts.js'
import { user, withEngine } from '../helpers/fixture.js'

t.test('texts and requests have exactly the tokens asked for', () =>
  withEngine('small', { metadataOnly: true }, async (engine) => {
    const texts = await Texts.create(engine)
    for (const tokens of [8, 40, 1000]) {
      const text = await texts.exact(tokens, (words) => [user(`${words}\n\n`)])
      const [ids] = await engine.tokenize([user(`${text}\n\n`)])
      t.equal(ids!.length, tokens)
    }
    await t.rejects(
      texts.exact(2, (words) => [user(`far too many tokens around ${words}`)]),
      { message: /No text makes a prompt of exactly 2 tokens/ },
    )

    const requests = await Requests.create(engine)
    const size = { stateTokens: 100, questions: 3, questionTokens: 80 }
    const request = await requests.make(size)
    const again = await requests.again(request, size)
    t.equal(again.state, request.state)
    t.not(again.questions['q0']!.instructions, request.questions['q0']!.instructions)
    const prompts = await requests.prompts(request)
    const lengths = prompts.map((prompt) => prompt.length)
    t.same(lengths, [180, 180, 180])
  }),
)
