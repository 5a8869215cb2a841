import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const generalSyntax = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals or a zod enum.' },
  { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' },
];

const orchestratorSyntax = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Use context.df.currentUtcDateTime.' },
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Use context.df.currentUtcDateTime.',
  },
  { selector: "MemberExpression[object.name='Math'][property.name='random']", message: 'Use context.df.newGuid.' },
  { selector: 'AwaitExpression', message: 'An orchestrator yields durable tasks; it never awaits.' },
  { selector: ':function[async=true]', message: 'An orchestrator yields durable tasks; it is never async.' },
];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      '.local/',
      'test-results/',
      '*.config.js',
      'vitest.config.ts',
      '.dependency-cruiser.cjs',
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      complexity: ['error', 10],
      'max-depth': ['error', 3],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...generalSyntax],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['functions/**/*.ts'],
    ignores: ['functions/config/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only functions/config reads the environment.' },
      ],
    },
  },
  {
    files: ['functions/scheduler/orchestrator.ts', 'functions/scheduler/await-reply.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...generalSyntax, ...orchestratorSyntax],
      'no-restricted-globals': ['error', 'process', 'fetch', 'setTimeout', 'setInterval', 'setImmediate'],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['cli/**/*.ts', 'bench/**/*.ts', 'local/part.ts', 'local/main.ts', 'local/emulators.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['infra/**/*.mjs', 'scripts/**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['infra/**/*.mjs', 'scripts/**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        URL: 'readonly',
        AbortSignal: 'readonly',
      },
    },
    rules: { 'no-console': 'off' },
  },
);
