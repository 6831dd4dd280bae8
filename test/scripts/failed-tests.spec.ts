import { failedTests } from '../../scripts/lib/testing/failed-tests.mjs';

const FAILED =
  'FAIL libs/a/b.int-spec.ts (3.2 s)\n  ● a test\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 4 passed, 5 total\n';
const BROKEN =
  'FAIL libs/a/b.int-spec.ts\n  ● Test suite failed to run\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n';

it.each([
  ['a test failed', 1, FAILED, ['libs/a/b.int-spec.ts']],
  ['everything passed', 0, 'Tests:       5 passed, 5 total\n', []],
  ['a file could not be loaded', 1, BROKEN, null],
  ['jest was killed', null, '', null],
  ['jest ran out of memory', 134, 'FATAL ERROR: Reached heap limit Allocation failed\n', null],
  ['something was left open after all had passed', 1, 'Tests:       5 passed, 5 total\n', null],
])('what jest says of its tests when %s', (_, code, output, said) => {
  expect(failedTests({ code, output })).toEqual(said);
});
