/**
 * Every rule of the contract, in the order of its sections.
 *
 * @module
 */

import type { Rule } from './rule.js'
import { answerRules } from './rules/answers.js'
import { batchRules } from './rules/batch.js'
import { corsRules } from './rules/cors.js'
import { evidenceRules } from './rules/evidence.js'
import { errorRules } from './rules/errors.js'
import { imageRules } from './rules/images.js'
import { keyRules } from './rules/keys.js'
import { limitRules, placeRules, wrongKeyRules } from './rules/limits.js'
import { modelRules } from './rules/models.js'
import { neighbourRules } from './rules/neighbours.js'
import { orderRules } from './rules/orders.js'
import { pictureFormRules } from './rules/picture-forms.js'
import { questionRules } from './rules/questions.js'
import { readingRules } from './rules/reading.js'
import { requestRules } from './rules/requests.js'
import { textRules } from './rules/texts.js'
import { transportRules } from './rules/transport.js'
import { usageRules } from './rules/usage.js'

/** Sections 3 and 6 of the specification promise nothing; the others cover 1, 4.1 and 9. */
export const rules: readonly Rule[] = [
  ...requestRules,
  ...readingRules,
  ...textRules,
  ...questionRules,
  ...imageRules,
  ...pictureFormRules,
  ...answerRules,
  ...neighbourRules,
  ...evidenceRules,
  ...orderRules,
  ...errorRules,
  ...keyRules,
  ...corsRules,
  ...transportRules,
  ...batchRules,
  ...modelRules,
  ...limitRules,
  ...usageRules,
  ...placeRules,
  ...wrongKeyRules,
].toSorted((a, b) => order(a.section) - order(b.section))

/** The specification first, in its order, then the decisions. */
function order(section: string): number {
  return section.startsWith('decisions') ? Number.MAX_VALUE : Number(section)
}
