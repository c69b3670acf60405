/**
 * The guides: Markdown files beside the code that they describe.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { filesIn } from '../../scripts/package/files.js'

/** Paths from the root, the README first. */
export const guides: readonly string[] = [
  'README.md',
  ...['src', 'native', 'scripts', 'test'].flatMap((folder) =>
    filesIn(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

export function readGuide(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** The contents of the fenced blocks of a language. */
export function blocks(text: string, language: string): string[] {
  return fences(text)
    .filter((fence) => fence.language === language)
    .map(({ content }) => content)
}

/** The text outside of fenced blocks. */
export function prose(text: string): string {
  return text.replace(fence, '')
}

/** Commands of all shell blocks. */
export function commands(text: string): string[] {
  return blocks(text, 'sh').flatMap(commandsIn)
}

/** Commands of one block, without comments. */
export function commandsIn(block: string): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of block.replaceAll('\\\n', ' ').split('\n')) {
    open += open === '' ? line : `\n${line}`
    // An open quote continues.
    if (open.split("'").length % 2 === 0) continue
    const command = open.replace(/(?:^|\s+)# .*$/, '').trim()
    if (command !== '') commands.push(command)
    open = ''
  }
  return commands
}

/** The targets of links and images within this repository. */
export function links(text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^https?:/.test(target))
}

/** The anchors of headings, as GitHub makes them. */
export function anchors(text: string): string[] {
  return [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

const fence = /^```(\w*)\n(.*?)^```$/gms

function fences(text: string) {
  return [...text.matchAll(fence)].map(([, language, content]) => ({
    language: language!,
    content: content!,
  }))
}
