/**
 * The form for the prices of a model's tokens.
 *
 * @module
 */

import { useEffect, useState } from 'preact/hooks'
import { credits, readCredits } from '../format.js'
import { FormIn } from '../parts/dialog.js'
import { TextField } from '../parts/field.js'
import { LoadedPart } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction, useLoad } from '../use-load.js'
import type { Price, Prices } from '../wire.js'

const fields = [
  { name: 'input', label: 'Input tokens' },
  { name: 'output', label: 'Output tokens' },
  { name: 'image', label: 'Image tokens' },
] as const

export function PriceForm({ model }: { readonly model: string }) {
  const prices = useLoad<Prices>('/prices')
  return (
    <LoadedPart of={prices}>
      {({ prices }) => (
        <Fields
          of={
            prices.find((price) => price.model === model) ?? {
              model,
              input: 0,
              output: 0,
              image: 0,
            }
          }
        />
      )}
    </LoadedPart>
  )
}

function Fields({ of: price }: { readonly of: Price }) {
  const [now, setNow] = useState(price)
  const [texts, setTexts] = useState(() => textsOf(price))
  useEffect(() => {
    setNow(price)
    setTexts(textsOf(price))
  }, [price.input, price.output, price.image])
  const read = fields.map(({ name }) => {
    const amount = readCredits(texts[name])
    return amount !== undefined && amount >= 0 ? amount : undefined
  })
  const save = useAction(async () => {
    if (same || read.includes(undefined)) return
    const [input, output, image] = read
    const body = { model: price.model, input, output, image }
    setNow(await call<Price>('/prices', { method: 'PUT', body }))
    say('The price is saved.')
  })
  const same = fields.every(({ name }, i) => read[i] === now[name])
  return (
    <FormIn action={save} deed="Save price" idle={same}>
      {fields.map(({ name, label }, i) => (
        <TextField
          key={name}
          label={label}
          unit="credits per million"
          value={texts[name]}
          onValue={(text) => setTexts({ ...texts, [name]: text })}
          error={read[i] === undefined ? 'A number of 0 or more, as 0.15.' : undefined}
          input={{ inputMode: 'decimal' }}
        />
      ))}
      <p class="hint">
        For all answers from now on. Image tokens cost this instead of the input price.
      </p>
    </FormIn>
  )
}

const textsOf = (price: Price) => ({
  input: credits(price.input).replaceAll(',', ''),
  output: credits(price.output).replaceAll(',', ''),
  image: credits(price.image).replaceAll(',', ''),
})
