/**
 * Few bytes that decompress to many: what refusing them costs the whole server.
 *
 * Time is that of all threads of the process, and memory its peak, as Linux counts them, so that
 * other programs do not matter. Of three tries the fastest counts, because garbage from before may
 * be collected meanwhile, and the largest peak.
 */
import t from 'tap'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hasProc } from '../../scripts/bench/proc.js'
import { bombs } from '../helpers/compressed.js'
import { ServerProcess } from '../helpers/server-process.js'

const tries = 3
const mostMs = 50
const mostBytes = 20 * 2 ** 20
const skip = !hasProc && 'only Linux tells what one process has used'

/** Processor time of all threads, milliseconds. */
function processorMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((id) => readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'latin1'))
    .reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0)
}

function memoryBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1024
}

for (const [limit, sizes] of [
  [524_288, [1, 16]],
  [4_194_304, [5, 1024]],
] as const) {
  t.test(
    `bombs are 413 in ${mostMs} ms and 20 MiB if bodies are limited to ${limit} bytes`,
    { skip },
    async (t) => {
      const options = { args: ['--max-body-bytes', String(limit), '--anonymous', 'loopback'] }
      const server = await ServerProcess.start(t, { model: 'real', ...options })
      const pid = server.child.pid!
      const send = async (coding: string, body: Buffer) => {
        const headers = { 'content-type': 'application/json', 'content-encoding': coding }
        const reply = await fetch(server.url('/v1/systemone'), { method: 'POST', headers, body })
        await reply.arrayBuffer()
        return reply.status
      }
      for (const mebibytes of sizes) {
        for (const [coding, bomb] of Object.entries(await bombs(mebibytes))) {
          const seen = { ms: Infinity, wallMs: Infinity, bytes: 0 }
          for (let i = 0; i < tries; i++) {
            // Restarts the measurement of the peak.
            writeFileSync(`/proc/${pid}/clear_refs`, '5')
            const [heldBytes, usedMs, startMs] = [
              memoryBytes(pid, 'VmRSS'),
              processorMs(pid),
              performance.now(),
            ]
            t.equal(await send(coding, bomb), 413, coding)
            seen.wallMs = Math.min(seen.wallMs, performance.now() - startMs)
            seen.ms = Math.min(seen.ms, processorMs(pid) - usedMs)
            seen.bytes = Math.max(seen.bytes, memoryBytes(pid, 'VmHWM') - heldBytes)
          }
          const told =
            `${coding}, ${mebibytes} MiB in ${bomb.length} bytes: ${seen.ms.toFixed(1)} ms of ` +
            `processor, ${seen.wallMs.toFixed(1)} ms, ${(seen.bytes / 2 ** 20).toFixed(1)} MiB`
          t.comment(told)
          t.ok(seen.ms < mostMs && seen.bytes < mostBytes, told)
        }
      }
    },
  )
}
