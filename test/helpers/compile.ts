/** The compiler on examples of guides and of the console, as strict as an application may have it. */
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../../scripts/build/paths.js'

/** Writes the script beside the file. @returns What the compiler says. */
export function compile(path: string): string[] {
  const program = ts.createProgram([path], {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
  })
  const { diagnostics } = program.emit()
  return [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n'),
  )
}
