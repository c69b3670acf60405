/**
 * A new key's secret, which is shown only once.
 *
 * @module
 */

import { Button } from '../parts/button.js'
import { CopyButton } from '../parts/small.js'
import { Dialog } from '../parts/dialog.js'
import type { KeyWithSecret } from '../wire.js'

interface SecretDialogProps {
  readonly of: KeyWithSecret
  readonly rotated: boolean
  readonly onClose: () => void
}

export function SecretDialog({ of: key, rotated, onClose }: SecretDialogProps) {
  const command = `curl -H "Authorization: Bearer ${key.secret}" ${location.origin}/v1/models`
  return (
    <Dialog title={rotated ? `New key for ${key.name}` : `Key ${key.name}`} onClose={onClose} stays>
      <p>
        <strong>Copy it now: it is not shown again.</strong> The server keeps a hash of it only.
      </p>
      <div class="secret">
        <input
          readOnly
          class="mono"
          aria-label="API key"
          value={key.secret}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={key.secret} label="Copy key" />
      </div>
      <p class="hint">Try it:</p>
      <div class="code-box">
        <pre role="region" tabIndex={0} aria-label="Command">
          {command}
        </pre>
        <CopyButton text={command} label="Copy command" />
      </div>
      <div class="dialog-foot">
        <Button kind="main" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  )
}
