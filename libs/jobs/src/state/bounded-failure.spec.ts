import { boundedFailure } from './bounded-failure';
import type { JobFailure } from './job';

const small: JobFailure = {
  code: 'node_execution_error',
  message: 'no',
  node_id: '1',
  class_type: 'Loader',
  traceback: 'a\nb',
};

describe('a failure', () => {
  it('that is small is kept as it is', () => {
    expect(boundedFailure(small)).toEqual(small);
    const sparse: JobFailure = { code: 'engine_error', message: '', node_id: null, class_type: null, traceback: null };
    expect(boundedFailure(sparse)).toEqual(sparse);
    expect(boundedFailure({ code: 'worker_lost', message: 'gone' })).toEqual({ code: 'worker_lost', message: 'gone' });
  });

  it('keeps the beginning of its message and of its names, and the end of its traceback', () => {
    const failure = boundedFailure({
      code: 'node_execution_error',
      message: `first ${'m'.repeat(7_000_000)}`,
      node_id: 'n'.repeat(70_000),
      class_type: 'c'.repeat(70_000),
      traceback: `${'t'.repeat(7_000_000)} last`,
    });
    expect(failure.message).toMatch(/^first m+…$/);
    expect(failure.message).toHaveLength(4 * 1_024 + 1);
    expect(failure.node_id).toBe(`${'n'.repeat(256)}…`);
    expect(failure.class_type).toBe(`${'c'.repeat(256)}…`);
    expect(failure.traceback).toMatch(/^…t+ last$/);
    expect(failure.traceback).toHaveLength(16 * 1_024 + 1);
  });

  it('is cut between characters, and once', () => {
    const faces = `x${'😀'.repeat(70_000)}x`;
    const failure = boundedFailure({ ...small, message: faces, traceback: faces });
    expect(failure.message).toMatch(/^x(?:😀)+…$/u);
    expect(failure.traceback).toMatch(/^…(?:😀)+x$/u);
    expect(boundedFailure(failure)).toEqual(failure);
  });
});
