import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, sentenceOf, systemSentenceIn } from '../../scripts/lib/command/failure.mjs';
import { lastWords } from '../../scripts/lib/services/logs.mjs';
import { reasonIn } from '../../scripts/lib/prisma/migrate.mjs';
import { concludeTests } from '../../scripts/lib/testing/test-count.mjs';

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

describe('a failed migration is reported with its name and the database’s own message', () => {
  it('when the native engine ran it', () => {
    const output = `Error: P3018

A migration failed to apply. New migrations cannot be applied before the error is recovered from.

Migration name: 20270101000000_wrong

Database error code: 42601

Database error:
ERROR: syntax error at or near "TABEL"
`;
    expect(reasonIn(output)).toBe('20270101000000_wrong: syntax error at or near "TABEL"');
  });

  it('when the embedded engine ran it', () => {
    const output = `Error: external connector error
Error querying the database: ERROR: syntax error at or near "TABEL"
   0: sql_schema_connector::apply_migration::apply_script
           with migration_name="20270101000000_wrong"
`;
    expect(reasonIn(output)).toBe('20270101000000_wrong: syntax error at or near "TABEL"');
  });

  it('and else by Prisma’s code and the sentence after it', () =>
    expect(reasonIn('Loaded Prisma config.\n\nError: P3009\n\nmigrate found failed migrations.\nMore.')).toBe(
      'P3009 migrate found failed migrations.',
    ));
});

describe('a run of tests', () => {
  const good = { passed: 5, failed: 0, unloaded: [] };

  it('succeeds when tests passed and none failed', () =>
    expect(concludeTests([{ report: good, code: 0 }])).toEqual({ line: 'Tests: 5 passed, 0 failed', succeeded: true }));

  it('adds its runs of jest up, of which one may have found no test', () => {
    const none = { ...good, passed: 0 };
    const runs = [good, none].map((report) => ({ report, code: 0 }));
    expect(concludeTests(runs)).toEqual({ line: 'Tests: 5 passed, 0 failed', succeeded: true });
  });

  it('does not succeed when one of its runs of jest failed', () => {
    const runs = [
      { report: good, code: 0 },
      { report: { ...good, failed: 2 }, code: 1 },
    ];
    expect(concludeTests(runs)).toEqual({ line: 'Tests: 10 passed, 2 failed', succeeded: false });
  });

  it.each([
    ['a test failed', { ...good, failed: 1 }, 1, 'Tests: 5 passed, 1 failed'],
    ['a file did not load', { ...good, unloaded: ['a.spec.ts'] }, 1, 'Tests: 5 passed, 1 failed'],
    ['jest itself failed', good, 1, 'Tests: 5 passed, 0 failed'],
    ['jest was killed', good, null, 'Tests: 5 passed, 0 failed'],
    ['no test ran', { ...good, passed: 0 }, 0, 'Tests: 0 passed, 0 failed'],
    ['jest left no report', undefined, 0, 'Tests: 0 passed, 0 failed'],
  ])('does not succeed when %s', (_, report, code, line) =>
    expect(concludeTests([{ report, code }])).toEqual({ line, succeeded: false }),
  );
});
