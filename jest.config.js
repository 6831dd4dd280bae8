const { readFileSync } = require('node:fs');
const { availableParallelism } = require('node:os');

// The path aliases are jest's to resolve here, so the compiler must leave them alone.
const { $schema: _schema, ...swc } = JSON.parse(readFileSync(`${__dirname}/.swcrc`, 'utf8'));
delete swc.jsc.paths;
delete swc.jsc.baseUrl;

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  // Ends a test that hangs, also on a machine that is many times slower.
  testTimeout: 300_000,
  // Closing takes 50 ms on an idle machine. What takes longer than this is a leak, and fails the run (scripts/lib/testing/leak-reporter.js).
  workerGracefulExitTimeout: 30_000,
  // A test of whole processes waits more than it works, so that two at a time also pay on two cores.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  // What a test file loads is never quite given back: after some hundred files another process goes on, before this one runs out of memory.
  workerIdleMemoryLimit: '1200MB',
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', '**/*.timing-spec.ts'],
  moduleNameMapper: {
    '^@millrace/engines/conformance$': '<rootDir>/libs/engines/conformance/index.ts',
    '^@millrace/([a-z-]+)$': '<rootDir>/libs/$1/src/index.ts',
  },
  transform: { '^.+\\.(t|j|mj)s$': ['@swc/jest', { ...swc, swcrc: false }] },
  transformIgnorePatterns: ['/node_modules/(?!(@nestjs|@comfyorg|openid-client|oauth4webapi|jose)/)'],
};
