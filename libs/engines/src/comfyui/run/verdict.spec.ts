import { readCapture } from '../../../fixtures/read-captures';
import { readHistory } from '../protocol/history';
import { readMessage } from '../protocol/messages';
import { onHistory, onMessage } from './run-reducer';
import { initialState, type RunState } from './run-state';
import { verdictOf } from './verdict';

const plain = (text: string): string => text;

function stateOf(messages: [type: string, data: Record<string, unknown>][]): RunState {
  let state = initialState({ promptId: 'p', classes: new Map([['1', 'Loader']]) });
  for (const [type, data] of messages) {
    state = onMessage(state, readMessage(JSON.stringify({ type, data: { prompt_id: 'p', ...data } }))).state;
  }
  return state;
}

const error = (exception_type: string, node_id: string | null = '1'): [string, Record<string, unknown>] => [
  'execution_error',
  { node_id, node_type: 'Inner', exception_type, exception_message: 'no\n', traceback: ['  File "x.py", line 1\n'] },
];

describe('the verdict on a run', () => {
  it('is the failure, with the class that was submitted', () => {
    expect(verdictOf(stateOf([error('ValueError')]), plain)).toEqual({
      status: 'failed',
      failure: {
        code: 'node_execution_error',
        message: 'no',
        nodeId: '1',
        classType: 'Loader',
        traceback: 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no',
      },
    });
  });

  it('is the fault of the disk, and not of the node, when what it wrote did not fit', () => {
    const full = { node_id: '1', exception_type: 'OSError', exception_message: '[Errno 28] No space left on device' };
    expect(verdictOf(stateOf([['execution_error', full]]), plain)).toEqual({
      status: 'disk_failed',
      reason: 'the disk of its worker is full (ENOSPC)',
    });
  });

  it('blames the engine when no node is named', () => {
    expect(verdictOf(stateOf([error('ValueError', null)]), plain)).toMatchObject({
      failure: { code: 'engine_error', nodeId: null },
    });
  });

  it('is a failure when a node was blocked with a message, though the run calls itself a success', () => {
    const state = stateOf([error('ExecutionBlocked'), ['execution_success', {}], ['executing', { node: null }]]);
    expect(verdictOf(state, plain)).toMatchObject({ status: 'failed', failure: { nodeId: '1' } });
  });

  it('ignores a status that its messages contradict', () => {
    const messages = [
      ['execution_error', { node_id: '1', exception_type: 'graph.DependencyCycleError', exception_message: 'cycle' }],
    ];
    const entry = readHistory(
      { p: { status: { status_str: 'success', completed: true, messages }, outputs: {} } },
      'p',
    );
    if (!entry) throw new Error('There is no entry.');
    expect(verdictOf(onHistory(stateOf([]), entry).state, plain)).toMatchObject({
      status: 'failed',
      failure: { message: 'cycle' },
    });
  });

  it('is unknown while nothing has reported the end', () => {
    expect(verdictOf(stateOf([['execution_start', {}]]), plain)).toEqual({ status: 'unknown' });
  });

  it('scrubs no more of what a node says than is shown, and shows no half of a secret', () => {
    const secret = 'sk-0123456789';
    const said = `${' '.repeat(8 * 1024 - 5)}${secret}${'/'.repeat(1_000_000)}${secret} last`;
    const scrubbed: string[] = [];
    const verdict = verdictOf(
      stateOf([
        ['execution_error', { node_id: '1', exception_type: 'E', exception_message: `m${said}`, traceback: [said] }],
      ]),
      (text) => (scrubbed.push(text), text.replaceAll(/ +/g, '').replaceAll(secret, '[redacted]')),
    );
    if (verdict.status !== 'failed') throw new Error('The run did not fail.');
    expect(Math.max(...scrubbed.map(({ length }) => length))).toBeLessThanOrEqual(32 * 1024);
    expect(verdict.failure.message).toBe('m');
    expect(verdict.failure.traceback).toMatch(/^…\/+\[redacted\]last$/);
  });

  it('cuts what is too long, and passes everything through the scrubber', () => {
    const { lines, promptId } = readCapture('fail');
    let state = initialState({ promptId, classes: new Map([['3', 'TestFail']]) });
    for (const line of lines) if (line.kind === 'text') state = onMessage(state, readMessage(line.text)).state;
    const verdict = verdictOf(state, (text) => text.replaceAll('/srv/comfyui', '<comfyui>').repeat(20));
    if (verdict.status !== 'failed') throw new Error('The run did not fail.');
    expect(verdict.failure.traceback?.length).toBeLessThanOrEqual(16 * 1024 + 1);
    expect(verdict.failure.traceback).not.toContain('/srv');
  });
});
