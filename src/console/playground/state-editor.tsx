/**
 * The editor of the state: a text, or JSON that is checked while it is typed, and images.
 *
 * @module
 */

import { useRef, useState } from 'preact/hooks'
import { bytes } from '../format.js'
import { Button, RemoveButton } from '../parts/button.js'
import { Segments } from '../parts/field.js'
import type { ApiError } from '../server.js'
import { CodeEditor } from './code-editor.js'
import { type DraftState, mistakeAt, placeIn } from './draft.js'
import { checkJson, prettyJson } from './json-text.js'
import { acceptedTypes, hasImages, mostImages, readImages } from './image-files.js'

interface StateEditorProps {
  readonly state: DraftState
  readonly onState: (state: DraftState) => void
  /** The server's error about the last request. */
  readonly error: ApiError | undefined
  /** Whether the chosen model sees images; undefined while unknown. */
  readonly sees: boolean | undefined
}

export function StateEditor({ state, onState, error, sees }: StateEditorProps) {
  const [over, setOver] = useState(false)
  const [reasons, setReasons] = useState<readonly string[]>([])
  const chooser = useRef<HTMLInputElement>(null)
  const { form, text, images } = state
  const take = async (files: Iterable<File>) => {
    const read = await readImages(files, mostImages - images.length)
    setReasons(read.reasons)
    if (read.images.length > 0) onState({ ...state, images: [...images, ...read.images] })
  }
  const said = form === 'text' && placeIn('state', error) ? error : undefined
  return (
    <section
      class={over ? 'part drop-over' : 'part'}
      aria-labelledby="state-title"
      onDragOver={(event) => {
        if (!hasImages(event.dataTransfer)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false)
        if (!hasImages(event.dataTransfer)) return
        event.preventDefault()
        void take(event.dataTransfer!.files)
      }}
      onPaste={(event) => {
        if (!hasImages(event.clipboardData)) return
        event.preventDefault()
        void take(event.clipboardData!.files)
      }}
    >
      <header class="part-head">
        <h2 id="state-title">State</h2>
        <Segments
          label="Form of the state"
          value={form}
          options={[
            { value: 'text', text: 'Text' },
            { value: 'json', text: 'JSON' },
          ]}
          onValue={(form) => onState(changedForm(state, form as DraftState['form']))}
        />
      </header>
      {form === 'text' ? (
        <>
          <textarea
            class="plain"
            aria-label="State, a text"
            rows={8}
            placeholder="What the model should know: a message, a record, a log…"
            value={text}
            aria-invalid={said ? true : undefined}
            onInput={(event) => onState({ ...state, text: event.currentTarget.value })}
          />
          {said && <p class="field-error">{said.message}</p>}
        </>
      ) : (
        <CodeEditor
          label="State, JSON"
          value={text}
          mistake={mistakeAt(text, 'state', error)}
          onValue={(text) => onState({ ...state, text })}
        />
      )}
      <div class="row">
        {images.map((image, i) => (
          <figure key={i} class="image">
            <img src={image} alt={`Image ${i + 1}`} />
            <figcaption>{bytes(Math.floor((image.length - image.indexOf(',')) * 0.75))}</figcaption>
            <RemoveButton
              label={`Remove image ${i + 1}`}
              onClick={() => onState({ ...state, images: images.filter((_, j) => j !== i) })}
            />
          </figure>
        ))}
        <input
          ref={chooser}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-label="Images"
          accept={acceptedTypes}
          multiple
          onChange={(event) => {
            const { files } = event.currentTarget
            if (files !== null) void take([...files])
            event.currentTarget.value = ''
          }}
        />
        <Button
          small
          icon="image"
          disabled={images.length >= mostImages}
          onClick={() => chooser.current?.click()}
        >
          Add image
        </Button>
        <span class="hint">or drop or paste one; they stand before the state</span>
      </div>
      <div aria-live="polite">
        {reasons.map((reason) => (
          <p key={reason} class="field-error">
            {reason}
          </p>
        ))}
        {images.length > 0 && sees === false && (
          <p class="field-error">The chosen model sees no images: it refuses this request.</p>
        )}
      </div>
    </section>
  )
}

/** The same state in the other form, if it can be converted. */
function changedForm(state: DraftState, form: DraftState['form']): DraftState {
  const { text } = state
  if (form === state.form) return state
  if (form === 'json') {
    const { value } = checkJson(text)
    // A text that is valid JSON was meant as JSON.
    const isJson = value !== undefined && typeof value === 'object' && value !== null
    return { ...state, form, text: isJson ? prettyJson(value) : JSON.stringify(text) }
  }
  const { value } = checkJson(text)
  return { ...state, form, text: typeof value === 'string' ? value : text }
}
