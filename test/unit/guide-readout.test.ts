/** The readouts in the guide to prompts are used as printed. */
import t from 'tap'
import { join } from 'node:path'
import { readReadoutFile } from '../../src/models/readout-file.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import { blocks, readGuide } from '../helpers/guides.js'

const guide = readGuide('src/prompt/README.md')

t.test('both files of the guide work as readouts', async (t) => {
  const files = {
    'frame.jinja': blocks(guide, 'jinja')[0]!,
    'support.json': blocks(guide, 'json')[0]!,
  }
  const dir = t.testdir(files)
  const request = {
    state: 'It rains.',
    questions: {
      wet: { type: 'noul', instructions: 'Is it wet?', criteria: { true: 'so' } },
      team: { type: 'choice', criteria: { x: 'X', y: null } },
    },
  } as const
  for (const [file, name, noul] of [
    ['frame.jinja', /^frame@/, 'Is it wet?\n\nYes: so\n\nAnswer with only Yes or No.'],
    ['support.json', /^support@2$/, 'Is it wet? True: so. Answer True or False.'],
  ] as const) {
    const readout = await createReadout(createFakeEngine(), {
      custom: readReadoutFile(join(dir, file)),
    })
    t.match(readout.name, name)
    const { prefix, suffixes } = readout.render(request).input
    t.match(prefix[0]!.text, /^<\|im_start\|>system\nYou sort .*\n\n$/)
    t.equal(suffixes[0]!.parts[0]!.text, noul)
    t.equal(suffixes[0]!.parts[1]!.text, '<|im_end|>\n<|im_start|>assistant\n')
  }
})
