/**
 * A network of a test's own: machines are network namespaces on one bridge, at 10.77.0.11 and so on;
 * this machine is 10.77.0.1, and also 10.77.0.2, from where one can be cut off alone.
 */
import { execFileSync } from 'node:child_process'
import type { Test } from 'tap'

const bridge = 'oibr0'
const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'] })

/** Why there can be no such network; false if there can. */
export const noNetwork = mayMake() ? false : 'this process may not make networks'

function mayMake(): boolean {
  try {
    ip('netns', 'add', 'oi-try')
    ip('netns', 'delete', 'oi-try')
    return process.getuid?.() === 0
  } catch {
    return false
  }
}

export class Network {
  static readonly own = '10.77.0.1'
  static readonly other = '10.77.0.2'
  static readonly range = '10.77.0.0/24'

  /** Gone with the test. */
  static start(t: Test, machines: number): Network {
    const names = Array.from({ length: machines }, (_, i) => `oi-n${i}`)
    const remove = () => {
      for (const args of [
        // A namespace lives as long as a process in it.
        ...names.map((_, i) => ['link', 'delete', `oiv${i}`]),
        ...names.map((name) => ['netns', 'delete', name]),
        ['link', 'delete', bridge],
      ]) {
        try {
          ip(...args)
        } catch {
          // It is not there.
        }
      }
    }
    remove()
    t.teardown(remove)
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('address', 'add', `${Network.own}/24`, 'dev', bridge)
    ip('address', 'add', `${Network.other}/24`, 'dev', bridge)
    ip('link', 'set', bridge, 'up')
    for (const [i, name] of names.entries()) {
      ip('netns', 'add', name)
      ip('link', 'add', `oiv${i}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
      ip('link', 'set', `oiv${i}`, 'master', bridge, 'up')
      ip('-n', name, 'address', 'add', `${this.address(i)}/24`, 'dev', 'eth0')
      ip('-n', name, 'link', 'set', 'eth0', 'up')
      ip('-n', name, 'link', 'set', 'lo', 'up')
    }
    return new Network(names)
  }

  static address(i: number): string {
    return `10.77.0.${11 + i}`
  }

  readonly #names: readonly string[]

  private constructor(names: readonly string[]) {
    this.#names = names
  }

  /** What a program is started through, to run on the machine. */
  on(i: number): readonly string[] {
    return ['ip', 'netns', 'exec', this.#names[i]!]
  }

  /** What the machine sends to {@link Network.other} goes to nobody: nothing refuses it. */
  cut(i: number): void {
    const neighbour = [Network.other, 'lladdr', '02:00:00:00:00:99', 'dev', 'eth0']
    ip('-n', this.#names[i]!, 'neighbour', 'replace', ...neighbour, 'nud', 'permanent')
  }

  mend(i: number): void {
    ip('-n', this.#names[i]!, 'neighbour', 'delete', Network.other, 'dev', 'eth0')
  }
}
