import { readMessage, type NodeError } from './messages';

const KEPT = 128 * 1024;

function errorOf(fields: Record<string, unknown>): NodeError {
  const message = readMessage(JSON.stringify({ type: 'execution_error', data: { prompt_id: 'p', ...fields } }));
  if (message.type !== 'execution_error') throw new Error('That is no error of a node.');
  return message.error;
}

describe('the error of a node', () => {
  it('is kept whole where it is as long as errors are', () => {
    const fields = { node_id: '1', node_type: 'Some', exception_type: 'ValueError', traceback: ['a\n', 'b\n'] };
    expect(errorOf({ ...fields, exception_message: ' it is wrong\n' })).toEqual({
      nodeId: '1',
      nodeType: 'Some',
      exceptionType: 'ValueError',
      message: 'it is wrong',
      traceback: ['a\n', 'b\n'],
    });
  });

  it('is cut where it is longer: its message in the middle, its traceback at its head', () => {
    const { message, traceback, exceptionType, nodeType } = errorOf({
      node_type: 'N'.repeat(10_000),
      exception_type: 'E'.repeat(10_000),
      exception_message: `begin ${'x'.repeat(2 * KEPT)} end`,
      traceback: Array.from({ length: 20_000 }, (_, n) => `frame ${n}\n`),
    });
    expect(message).toHaveLength(KEPT + 3);
    expect(message).toMatch(/^begin x+\n…\nx+ end$/);
    expect(traceback.join('').length).toBeLessThanOrEqual(KEPT);
    expect(traceback.at(-1)).toBe('frame 19999\n');
    expect(traceback.length).toBeGreaterThan(5_000);
    expect([exceptionType.length, nodeType?.length]).toEqual([1_024, 1_024]);
  });

  it('keeps the end of a single frame that is too long', () => {
    const { traceback } = errorOf({ traceback: ['first', `${'x'.repeat(2 * KEPT)} the end`] });
    expect(traceback).toHaveLength(1);
    expect(traceback[0]).toHaveLength(KEPT);
    expect(traceback[0]).toMatch(/ the end$/);
  });
});
