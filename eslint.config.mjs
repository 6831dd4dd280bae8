import reactHooks from 'eslint-plugin-react-hooks';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** Everything that ships or tests is TypeScript; scripts and benches are JavaScript whose types stand in JSDoc. */
const TYPESCRIPT = ['**/*.ts', '**/*.tsx'];
const JAVASCRIPT = ['scripts/**/*.{mjs,js}', 'bench/**/*.mjs'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.millrace/', 'demo-output/', '**/*.cjs', 'jest.config.js'] },
  {
    files: [...TYPESCRIPT, ...JAVASCRIPT],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // An async method may have nothing to await where its interface says that it may.
      '@typescript-eslint/require-await': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Name what a module exports.' },
        { selector: 'ExportAllDeclaration', message: 'List the names: the index of a lib or room is readable.' },
        { selector: 'TSEnumDeclaration', message: 'Use a string union from an `as const` list.' },
      ],
      'max-lines': ['error', { max: 500 }],
      eqeqeq: 'error',
    },
  },
  {
    // What has no syntax in JavaScript. There, tsc refuses parameters without a type.
    files: TYPESCRIPT,
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/explicit-module-boundary-types': ['error', { allowTypedFunctionExpressions: true }],
    },
  },
  { files: ['apps/console/**/*.{ts,tsx}'], ...reactHooks.configs.flat['recommended-latest'] },
  {
    // An expression that backtracks without end lets one text stop the process.
    files: ['apps/**/*.{ts,tsx}', 'libs/**/*.ts', 'scripts/**/*.{mjs,js}'],
    ignores: ['**/*spec.ts'],
    plugins: { regexp },
    rules: { 'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }] },
  },
  // What `queryOptions` returns has no name: its type carries the key, and with it what the cache holds.
  {
    files: ['apps/console/{src,ops/src}/api/*.ts'],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  // Beside the consoles' own projects, in which there is no Node.
  {
    files: ['apps/console/{console-config,vite.config,ops/vite.config}.ts'],
    languageOptions: { parserOptions: { projectService: false, project: 'apps/console/docs-site/tsconfig.json' } },
  },
  // Jest loads a reporter as CommonJS.
  { files: ['scripts/**/*.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  { files: ['**/*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
