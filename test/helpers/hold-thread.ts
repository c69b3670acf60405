/** Stops one thread of another process, as if it hung in a driver. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Attaches, says so, and waits for the thread's end; otherwise its process could not be reaped. */
const program = `
import ctypes, os, sys
tid = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
    if libc.ptrace(request, tid, None, None) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(tid, 0x40000000)
print('held', flush=True)
while True:
    try:
        os.waitpid(tid, 0x40000000)
    except ChildProcessError:
        break
`

/** Why no thread can be held here; false if one can. */
export const cannotHold = mayTrace() ? false : 'this process may not trace others'

/** @param name - The thread's name. @returns The process that holds it until it is killed. */
export async function holdThread(pid: number, name: string): Promise<ChildProcess> {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nameOf = (id: string) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim()
  const id = threads.find((each) => nameOf(each) === name)
  if (id === undefined) throw new Error(`no thread is called ${name}`)
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const holder = spawn('python3', ['-c', program, id], { stdio: [...stdio] })
  await new Promise<void>((resolve, reject) => {
    holder.stdout.once('data', () => resolve())
    holder.once('exit', (code) => reject(new Error(`it was not held: exit ${code}`)))
  })
  return holder
}

function mayTrace(): boolean {
  if (process.platform !== 'linux') return false
  const child = spawn('sleep', ['10'], { stdio: 'ignore' })
  try {
    const attach = program.slice(0, program.indexOf("print('held'"))
    return spawnSync('python3', ['-c', attach, String(child.pid)]).status === 0
  } finally {
    child.kill('SIGKILL')
  }
}
