/**
 * The dialog with the same request as code.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Segments } from '../parts/field.js'
import { CopyButton } from '../parts/small.js'
import { codeFor, type CodeInput, type Language, languages } from './code.js'

/** Nobody reads more than this; copying takes the whole text. */
const mostShown = 20_000

interface CodeDialogProps {
  readonly input: CodeInput
  readonly onClose: () => void
}

export function CodeDialog({ input, onClose }: CodeDialogProps) {
  const [language, setLanguage] = useState<Language>('curl')
  const code = codeFor(language, input)
  return (
    <Dialog title="Code" onClose={onClose} wide>
      <div class="form">
        <div class="row">
          <Segments
            label="Language"
            value={language}
            options={languages}
            onValue={(value) => setLanguage(value as Language)}
          />
          <CopyButton text={code} label="Copy code" />
        </div>
        <pre class="code" role="region" tabIndex={0} aria-label={`Code, ${language}`}>
          {code.length > mostShown ? `${code.slice(0, mostShown)}…` : code}
        </pre>
        <p class="hint">
          The key is read from the variable <code>OI_KEY</code>. Create one under API keys.
        </p>
      </div>
    </Dialog>
  )
}
