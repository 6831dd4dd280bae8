import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, sentenceOf, systemSentenceIn } from '../../scripts/lib/command/failure.mjs';
import { lastWords } from '../../scripts/lib/services/logs.mjs';
import { concludeTests, filesToTryAgain, withSecondTry } from '../../scripts/lib/testing/test-count.mjs';
import type { FileReport, TestReport } from '../../scripts/lib/testing/test-report.js';

describe('a failure is reported in one sentence', () => {
  it('as it was put', () => expect(sentenceOf(new Failure('Port 1 is taken.'))).toBe('Port 1 is taken.'));

  it('naming path and cure where the operating system refuses', () => {
    const error = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', path: '/data/x' });
    expect(sentenceOf(error)).toBe('The disk is full (writing /data/x): free some space and run the command again.');
  });

  it('without the lines that follow, where nobody foresaw it', () =>
    expect(sentenceOf(new Error('first\nsecond'))).toBe('Unexpected failure: first'));

  it('when a tool only says so in passing', () => {
    expect(systemSentenceIn('npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write')).toMatch(
      /disk is full/,
    );
    expect(systemSentenceIn('all is well')).toBeUndefined();
  });
});

describe('the last words of a process', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millrace-log-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function wordsOf(text: string, earlier = ''): string {
    const log = join(folder, 'a.log');
    writeFileSync(log, earlier + text);
    return lastWords(log, Buffer.byteLength(earlier));
  }

  const FATAL = '{"level":60,"err":{"message":"no such table"},"msg":"the boot failed"}\n';

  it('are its sentence on standard error rather than its log', () =>
    expect(wordsOf(`MILLRACE_PORT=x is not valid: must be a whole number.\n${FATAL}`)).toBe(
      'MILLRACE_PORT=x is not valid: must be a whole number.',
    ));

  it('are the message of the worst log line where there is no sentence', () =>
    expect(wordsOf(`{"level":30,"msg":"up"}\n${FATAL}`)).toBe('no such table'));

  it('are the error of a PostgreSQL server, without its time and pid', () =>
    expect(
      wordsOf(
        '2026-11-21 08:00:00.000 UTC [12] LOG:  starting\n' +
          '2026-11-21 08:00:00.000 UTC [12] FATAL:  could not create any TCP/IP sockets\n' +
          '2026-11-21 08:00:00.000 UTC [12] LOG:  database system is shut down\n',
      ),
    ).toBe('could not create any TCP/IP sockets'));

  it('do not come from an earlier run, nor from a stack trace', () => {
    expect(wordsOf('', 'Old trouble.\n')).toBe('');
    expect(wordsOf('Error: broken\n    at main (file.js:1:1)\nNode.js v20.20.2\n')).toBe('Error: broken');
  });
});

describe('a run of tests', () => {
  const file = { path: 'a.spec.ts', passed: 5, failed: 0, loaded: true };
  const failing = { path: 'b.spec.ts', passed: 3, failed: 2, loaded: true };
  const reportOf = (...files: FileReport[]): TestReport => ({ files, leaked: false });

  it('succeeds when tests passed and none failed', () =>
    expect(concludeTests([{ report: reportOf(file), code: 0 }])).toEqual({
      line: 'Tests: 5 passed, 0 failed',
      succeeded: true,
    }));

  it('adds its runs of jest up, of which one may have found no test', () => {
    const runs = [reportOf(file), reportOf()].map((report) => ({ report, code: 0 }));
    expect(concludeTests(runs)).toEqual({ line: 'Tests: 5 passed, 0 failed', succeeded: true });
  });

  it('does not succeed when one of its runs of jest failed', () => {
    const runs = [
      { report: reportOf(file), code: 0 },
      { report: reportOf(file, failing), code: 1 },
    ];
    expect(concludeTests(runs)).toEqual({ line: 'Tests: 13 passed, 2 failed', succeeded: false });
  });

  it.each([
    ['a test failed', reportOf(failing), 1, 'Tests: 3 passed, 2 failed'],
    ['a file did not load', reportOf({ ...file, passed: 0, loaded: false }), 1, 'Tests: 0 passed, 1 failed'],
    ['jest itself failed', reportOf(file), 1, 'Tests: 5 passed, 0 failed'],
    ['jest was killed', reportOf(file), null, 'Tests: 5 passed, 0 failed'],
    ['no test ran', reportOf({ ...file, passed: 0 }), 0, 'Tests: 0 passed, 0 failed'],
    ['jest left no report', undefined, 0, 'Tests: 0 passed, 0 failed'],
  ])('does not succeed when %s', (_, report, code, line) =>
    expect(concludeTests([{ report, code }])).toEqual({ line, succeeded: false }),
  );

  describe('of which a file failed', () => {
    const first = { report: reportOf(file, failing), code: 1 };

    it('succeeds when that file passes alone, and says which it was', () => {
      expect(filesToTryAgain(first)).toEqual(['b.spec.ts']);
      const { run, unsteady } = withSecondTry(first, {
        report: reportOf({ ...failing, passed: 5, failed: 0 }),
        code: 0,
      });
      expect(unsteady).toEqual(['b.spec.ts']);
      expect(concludeTests([run])).toEqual({ line: 'Tests: 10 passed, 0 failed', succeeded: true });
    });

    it.each([
      ['fails again', { report: reportOf(failing), code: 1 }],
      ['leaves something open', { report: { ...reportOf({ ...failing, failed: 0 }), leaked: true }, code: 1 }],
      ['is not run', { report: reportOf(), code: 0 }],
      ['is killed', { report: undefined, code: null }],
    ])('does not succeed when that file %s', (_, second) =>
      expect(concludeTests([withSecondTry(first, second).run]).succeeded).toBe(false),
    );

    it.each([
      ['a file left something open', { ...first, report: { ...first.report, leaked: true } }],
      ['jest was killed', { ...first, code: null }],
      [
        'many files failed',
        {
          ...first,
          report: reportOf(...Array.from({ length: 6 }, (_, nth) => ({ ...failing, path: `${nth}.spec.ts` }))),
        },
      ],
      ['none failed', { report: reportOf(file), code: 1 }],
      [
        'it is a proof by chance, or a run with faults',
        {
          ...first,
          report: reportOf(
            { ...failing, path: '/libs/jobs/src/proofs/job-model.int-spec.ts' },
            { ...failing, path: '/test/faults/faults.e2e-spec.ts' },
          ),
        },
      ],
    ])('is not run again when %s', (_, run) => expect(filesToTryAgain(run)).toEqual([]));
  });
});
