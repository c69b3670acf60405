/**
 * The cores and memory that this process may use: on trees of files that stand for `/`, and in real
 * control groups, if this machine lets a test make them.
 */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { availableCores, availableMemory } from '../../src/engine/machine.js'

type Tree = Readonly<Record<string, string>>

const gib = 2 ** 30
const meminfo = 'MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n'
const mount2 = (root: string, at = '/sys/fs/cgroup') =>
  `30 23 0:26 ${root} ${at} rw,nosuid - cgroup2 cgroup rw\n`
const mount1 = (root: string, at: string, controllers: string) =>
  `31 23 0:27 ${root} ${at} rw,nosuid shared:9 - cgroup cgroup rw,${controllers}\n`
const limited = (folder: string, max: number, used = 0): Tree => ({
  [`${folder}/memory.max`]: `${max}\n`,
  [`${folder}/memory.current`]: `${used}\n`,
})

/** Writes the tree into a folder of the test. */
function rootOf(t: Tap, tree: Tree): string {
  const root = mkdtempSync(join(tmpdir(), 'oi-machine-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}
type Tap = Pick<typeof t, 'teardown'>

for (const [title, files, bytes] of [
  ['what the kernel counts as available', {}, 8 * gib],
  ['no more than a control group leaves', limited('/sys/fs/cgroup', 4 * gib, gib), 3 * gib],
  [
    'pages of files that the group could give up',
    {
      ...limited('/sys/fs/cgroup', 4 * gib, 3 * gib),
      '/sys/fs/cgroup/memory.stat': `anon ${gib}\nactive_file ${gib}\ninactive_file ${gib}\n`,
    },
    3 * gib,
  ],
  [
    'the group that the process is in',
    {
      '/proc/self/cgroup': '0::/system.slice/oi.service\n',
      ...limited('/sys/fs/cgroup/system.slice/oi.service', 2 * gib),
    },
    2 * gib,
  ],
  [
    'a group between the process and the root',
    {
      '/proc/self/cgroup': '0::/a/b/c\n',
      '/proc/self/mountinfo': mount2('/'),
      ...limited('/sys/fs/cgroup/a', 2 * gib),
      ...limited('/sys/fs/cgroup/a/b', gib),
      '/sys/fs/cgroup/a/b/c/memory.max': 'max\n',
      '/sys/fs/cgroup/a/b/c/memory.current': '1\n',
    },
    gib,
  ],
  [
    'no more than a group may have before it is slowed down',
    { ...limited('/sys/fs/cgroup', 4 * gib), '/sys/fs/cgroup/memory.high': `${gib}\n` },
    gib,
  ],
  [
    'a group of version 1',
    {
      '/proc/self/cgroup': '5:cpu,memory:/box\n0::/\n',
      '/sys/fs/cgroup/memory/box/memory.limit_in_bytes': `${2 * gib}\n`,
      '/sys/fs/cgroup/memory/box/memory.usage_in_bytes': `${gib}\n`,
      '/sys/fs/cgroup/memory/box/memory.stat': `active_file 5\ntotal_active_file ${gib / 2}\n`,
    },
    1.5 * gib,
  ],
  [
    'a group of version 1 without a limit',
    {
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
      '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${gib}\n`,
    },
    8 * gib,
  ],
  [
    'a group without a limit',
    { '/sys/fs/cgroup/memory.max': 'max\n', '/sys/fs/cgroup/memory.current': `${gib}\n` },
    8 * gib,
  ],
  ['a group that is full', limited('/sys/fs/cgroup', gib, 2 * gib), 0],
] as const) {
  t.test(`available memory: ${title}`, async (t) => {
    t.equal(availableMemory(rootOf(t, { '/proc/meminfo': meminfo, ...files })), bytes)
  })
}

t.test('without any information, all memory is available', async (t) => {
  t.equal(availableMemory(rootOf(t, {})), totalmem())
})

const cores = availableCores()
const oneCore = '100000 100000\n'
const halfCore = '50000 100000\n'

for (const [title, files, expected] of [
  ['all without a quota', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, cores],
  ['within a quota', { '/sys/fs/cgroup/cpu.max': oneCore }, 1],
  ['at least one', { '/sys/fs/cgroup/cpu.max': halfCore }, 1],
  [
    "within the quota of the process' own group",
    {
      '/proc/self/cgroup': '0::/system.slice/oi.service\n',
      '/proc/self/mountinfo': mount2('/'),
      '/sys/fs/cgroup/system.slice/oi.service/cpu.max': oneCore,
    },
    1,
  ],
  [
    'within the quota of a parent',
    {
      '/proc/self/cgroup': '0::/a/b\n',
      '/proc/self/mountinfo': mount2('/'),
      '/sys/fs/cgroup/a/cpu.max': oneCore,
      '/sys/fs/cgroup/a/b/cpu.max': '800000 100000\n',
    },
    1,
  ],
  [
    'within a quota of version 1, mounted with another controller and elsewhere',
    {
      '/proc/self/cgroup': '4:cpu,cpuacct:/box/inner\n3:memory:/\n0::/\n',
      '/proc/self/mountinfo':
        mount2('/', '/sys/fs/cgroup/unified') + mount1('/', '/run/my\\040groups', 'cpu,cpuacct'),
      '/run/my groups/box/cpu.cfs_quota_us': '100000\n',
      '/run/my groups/box/cpu.cfs_period_us': '100000\n',
      '/run/my groups/box/inner/cpu.cfs_quota_us': '-1\n',
      '/run/my groups/box/inner/cpu.cfs_period_us': '100000\n',
    },
    1,
  ],
  [
    "within the container's quota, whose own group is what is mounted",
    {
      '/proc/self/cgroup': '0::/docker/abc/worker\n',
      '/proc/self/mountinfo': mount2('/docker/abc'),
      '/sys/fs/cgroup/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/worker/cpu.max': oneCore,
    },
    1,
  ],
  [
    "within a sibling's quota, where the mount is from outside the namespace",
    {
      '/proc/self/cgroup': '0::/../x\n',
      '/proc/self/mountinfo': mount2('/..'),
      '/sys/fs/cgroup/x/cpu.max': oneCore,
    },
    1,
  ],
  [
    "within the container's quota, where the process' path leads out of what is mounted",
    {
      '/proc/self/cgroup': '0::/../x\n',
      '/proc/self/mountinfo': mount2('/'),
      '/sys/fs/cgroup/cpu.max': oneCore,
    },
    1,
  ],
  [
    'within the quota of the group that lists the process, where no path leads there',
    {
      '/proc/self/cgroup': '0::/x\n',
      '/proc/self/mountinfo': mount2('/../..'),
      '/proc/self/stat': '4711 (node) R 1\n',
      '/sys/fs/cgroup/pods/other/cgroup.procs': '12\n',
      '/sys/fs/cgroup/pods/ours/x/cgroup.procs': '3\n4711\n',
      '/sys/fs/cgroup/pods/ours/cpu.max': oneCore,
    },
    1,
  ],
] as const) {
  t.test(`available cores: ${title}`, async (t) => {
    // A quota takes cores away only if there are more.
    t.equal(availableCores(rootOf(t, files)), Math.min(expected, cores))
  })
}

const addonUrl = new URL('../../src/engine/machine.js', import.meta.url)
const print = (folder: string) =>
  `echo $$ > ${folder}/cgroup.procs && exec "${process.execPath}" --input-type=module -e ` +
  `"import { availableCores } from '${addonUrl.href}'; console.log(availableCores())"`

/** A mounted hierarchy of version 1 with processor quotas, in which groups can be made. */
function quotaHierarchy(): string | undefined {
  const folder = '/sys/fs/cgroup/cpu'
  if (!existsSync(`${folder}/cpu.cfs_quota_us`) && !existsSync(`${folder}/cpu.shares`)) return
  const made = join(folder, `oi-test-${process.pid}`)
  try {
    mkdirSync(made)
    const able = existsSync(`${made}/cpu.cfs_quota_us`)
    rmdirSync(made)
    return able ? folder : undefined
  } catch {
    return undefined
  }
}

const hierarchy = quotaHierarchy()
const skip = hierarchy !== undefined && cores > 1 ? false : 'no group with a quota can be made here'

t.test("a real group's quota applies to the groups in it", { skip }, async (t) => {
  const outer = join(hierarchy!, `oi-test-${process.pid}`)
  const inner = join(outer, 'inner')
  mkdirSync(inner, { recursive: true })
  t.teardown(() => [inner, outer].forEach((folder) => rmdirSync(folder)))
  writeFileSync(`${outer}/cpu.cfs_quota_us`, readFileSync(`${outer}/cpu.cfs_period_us`))
  const { stdout, stderr } = spawnSync('sh', ['-c', print(inner)], { encoding: 'utf8' })
  t.equal(stdout.trim(), '1', stderr)
})
