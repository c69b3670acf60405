/**
 * ESLint's rules, called by `npm run lint`. Layout and import rules are elsewhere: prettier and
 * test/unit/structure.test.ts check them.
 */
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

export default defineConfig(
  { ignores: ['**/*.{js,mjs}'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: join(import.meta.dirname, '..') },
    },
    rules: {
      // Lengths are checked before elements are read: `!` tells the compiler.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // An engine or a stub is asynchronous by its interface, whether it waits or not.
      '@typescript-eslint/require-await': 'off',
      // The JSON reader compares character codes with their names.
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // Reports methods that libraries give away to be called alone.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // A member is named to leave it out of the rest.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: builtinModules.map((name) => ({ name, message: `Say node:${name}.` })) },
      ],
      // ESLint's own rules for mistakes that the compiler does not see.
      eqeqeq: 'error',
      'no-async-promise-executor': 'error',
      'no-cond-assign': 'error',
      'no-constant-binary-expression': 'error',
      'no-constant-condition': ['error', { checkLoops: false }],
      'no-debugger': 'error',
      'no-empty': 'error',
      'no-irregular-whitespace': 'error',
      'no-loss-of-precision': 'error',
      'no-misleading-character-class': 'error',
      'no-self-assign': 'error',
      'no-sparse-arrays': 'error',
      'no-unsafe-finally': 'error',
      'no-useless-escape': 'error',
      'no-var': 'error',
      'no-warning-comments': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Exports have names.' },
        { selector: 'ExportAllDeclaration', message: 'Exports are listed by name.' },
        { selector: 'TSEnumDeclaration:not([const=true])', message: 'Use a union of literals.' },
      ],
    },
  },
  {
    // Replies of a server are read untyped; tap itself waits for its promises.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-empty-object-type': 'off',
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
)
