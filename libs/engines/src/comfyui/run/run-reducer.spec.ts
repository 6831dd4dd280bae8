import fc from 'fast-check';
import { CAPTURES, readCapture, type Capture, type CaptureName } from '../../../fixtures/read-captures';
import { readFrame } from '../protocol/frames';
import { readHistory } from '../protocol/history';
import { parseLenientJson } from '../protocol/lenient-json';
import { readMessage, typedMessage, type ServerMessage } from '../protocol/messages';
import { onFrame, onHistory, onMessage } from './run-reducer';
import { initialState, type RunSignal, type RunState } from './run-state';

/** The graph of recordings that did not keep theirs. */
const UNRECORDED = ['0', '1', '2', '9'];

function stateFor({ promptId, prompt }: Capture): RunState {
  const classes = prompt ? Object.entries(prompt).map(([id, node]) => [id, node.class_type] as const) : null;
  return initialState({ promptId, classes: new Map(classes ?? UNRECORDED.map((id) => [id, 'Unknown'])) });
}

/** Reads the lines of a capture that `keeps` says have arrived. */
function replay(
  capture: Capture,
  keeps: (at: number) => boolean = () => true,
): { state: RunState; signals: RunSignal[] } {
  let state = stateFor(capture);
  const signals: RunSignal[] = [];
  capture.lines.forEach((line, at) => {
    if (!keeps(at)) return;
    const step =
      line.kind === 'text' ? onMessage(state, readMessage(line.text)) : onFrame(state, readFrame(line.frame));
    state = step.state;
    signals.push(...step.signals);
  });
  return { state, signals };
}

/** Signals in a short form: `started`, `+1` begins, `-1` finished, `1:2/3` a step, `1=images` a report. */
function shorten(signals: RunSignal[]): string {
  return signals.map(shortForm).join(' ');
}

function shortForm(signal: RunSignal): string {
  switch (signal.type) {
    case 'started':
      return 'started';
    case 'nodes_cached':
      return `cached(${signal.nodeIds.join()})`;
    case 'node_started':
      return `+${signal.nodeId}`;
    case 'node_finished':
      return `-${signal.nodeId}`;
    case 'node_step':
      return `${signal.nodeId}:${signal.step}/${signal.steps}`;
    case 'preview':
      return `${signal.nodeId}~`;
    case 'picture_output':
      return `${signal.nodeId}#`;
    case 'reported':
      return `${signal.report.nodeId}=${Object.keys(signal.report.output).join()}`;
  }
}

const STORIES: Record<CaptureName, [story: string, terminal: string | null]> = {
  success: ['started +1 -1 +2 2:1/3 2:2/3 2:3/3 -2 +3 3=images -3', 'succeeded'],
  cached: ['started cached(1,2,3) 3=images', 'succeeded'],
  fail: ['started +1 -1 +2 2=images -2 +3 3:1/4 3:2/4', 'failed'],
  interrupted: ['started +1 -1 +2 2=images -2 +3 3:1/50 3:2/50 3:3/50', 'interrupted'],
  interrupted_in_blocking_node: ['started +3 -3 +4', 'interrupted'],
  blocked_msg: ['started +1 -1 +2 -2 +0 -0 +9 9=images -9', 'succeeded'],
  blocked_silent: ['started +1 -1 +2 -2 +0 -0 +9 9=images -9', 'succeeded'],
  async: ['started +2 +1 2:1/4 1:1/4 2:2/4 1:2/4 2:3/4 1:3/4 2:4/4 1:4/4 -1 -2 +3 -3 +4 4=images -4', 'succeeded'],
  expand: ['started +1 1:1/3 1:2/3 1:3/3 1:1/3 1:2/3 1:3/3 -1 +2 2=images -2', 'succeeded'],
  expand_fail: ['started +1 1:1/3 1:2/3 1:3/3 1:1/3 1:2/3 1:3/3 1:1/2', 'failed'],
  expand_preview: ['started +1 1:1/3 1:2/3 1:3/3 1:1/3 1:2/3 1:3/3 1=images -1 +2 2=images -2', 'succeeded'],
  preview: ['started +1 1~ 1:1/3 1~ 1:2/3 1~ 1:3/3 -1 +2 2=images -2', 'succeeded'],
  text: ['started +1 1=text -1 +2 2=text -2', 'succeeded'],
  ksampler: ['started +2 -2 +1 -1 +3 3:1/6 3:2/6 3:3/6 3:4/6 3:5/6 3:6/6 -3 +4 -4 +5 5=images -5', 'succeeded'],
  reconnect: [
    'started +1 1:1/20 1:2/20 1:3/20 1:4/20 1:5/20 1:13/20 1:14/20 1:15/20 1:16/20 1:17/20 1:18/20 1:19/20 1:20/20 -1' +
      ' +2 2=images -2 +0 -0 +9 9=images -9',
    'succeeded',
  ],
  worker_thread_died: ['started +1 1:1/2', null],
  logs: ['started +1 -1 +2 2=images -2', 'succeeded'],
};

describe('the state of a run', () => {
  it.each(CAPTURES)('reads the recording %s', (name) => {
    const { state, signals } = replay(readCapture(name));
    const [story, terminal] = STORIES[name];
    expect(shorten(signals)).toBe(story);
    expect(state.terminal?.status ?? null).toBe(terminal);
    expect(state.ended).toBe(terminal !== null);
  });

  it('names the submitted node in every failure', () => {
    const { state } = replay(readCapture('expand_fail'));
    expect(state.terminal).toMatchObject({
      error: { nodeId: '1', message: 'inner boom', exceptionType: 'RuntimeError' },
    });
    expect(replay(readCapture('blocked_msg')).state.blocked).toMatchObject({
      nodeId: '2',
      message: 'Execution Blocked: not allowed',
    });
  });

  describe('when messages are lost', () => {
    const withHistory = CAPTURES.filter((name) => readCapture(name).history !== null);

    it.each(withHistory)('comes to the same end of %s, with every output, by history', (name) => {
      const capture = readCapture(name);
      const entry = readHistory(parseLenientJson(capture.history ?? ''), capture.promptId);
      if (!entry) throw new Error('The recording has no entry.');
      const whole = replay(capture);
      const reports = (signals: RunSignal[]): string[] =>
        signals
          .filter(({ type }) => type === 'reported')
          .map(shortForm)
          .sort();
      fc.assert(
        fc.property(fc.infiniteStream(fc.boolean()), (luck) => {
          const partial = replay(capture, () => luck.next().value as boolean);
          const { state, signals } = onHistory(partial.state, entry);
          expect(state.ended).toBe(true);
          expect(state.terminal?.status).toBe(whole.state.terminal?.status);
          // What a node of an expansion showed is in history under its own id.
          expect(reports([...partial.signals, ...signals])).toEqual(reports(whole.signals));
        }),
        { numRuns: 50 },
      );
    });
  });

  describe('any sequence of messages', () => {
    const ids = fc.constantFrom('1', '2', '3', '1.0.0.1', '9', null);
    const promptId = fc.constantFrom('run', 'run', 'run', 'other', null);
    const message: fc.Arbitrary<ServerMessage> = fc
      .record({
        type: fc.constantFrom(
          'execution_start',
          'execution_cached',
          'executing',
          'progress',
          'executed',
          'execution_success',
          'execution_error',
          'execution_interrupted',
          'logs',
        ),
        prompt_id: promptId,
        node: ids,
        display_node: ids,
        node_id: ids,
        nodes: fc.array(fc.constantFrom('1', '2', '7')),
        value: fc.oneof(fc.integer(), fc.constant(null)),
        max: fc.oneof(fc.integer(), fc.constant(null)),
        output: fc.constantFrom({ images: [] }, null),
        exception_type: fc.constantFrom('ExecutionBlocked', 'RuntimeError'),
      })
      .map(({ type, ...data }) => typedMessage(type, data));
    const progressState: fc.Arbitrary<ServerMessage> = fc
      .dictionary(
        fc.constantFrom('1', '2', '1.0.0.1', '9'),
        fc.record({ state: fc.constantFrom('running', 'finished') }),
      )
      .map((nodes) => readMessage(JSON.stringify({ type: 'progress_state', data: { prompt_id: 'run', nodes } })));
    const messages = fc.array(fc.oneof(message, message, progressState), { maxLength: 40 });

    it('starts once and first, begins and finishes each submitted node at most once and in that order, and ends for good', () => {
      fc.assert(
        fc.property(messages, (all) => {
          let state = initialState({ promptId: 'run', classes: new Map(['1', '2', '3'].map((id) => [id, 'Class'])) });
          const signals: RunSignal[] = [];
          for (const each of all) {
            const before = state;
            const step = onMessage(Object.freeze(state), each);
            if (before.ended) expect(step).toEqual({ state: before, signals: [] });
            state = step.state;
            signals.push(...step.signals);
          }
          const begun: string[] = [];
          const finished: string[] = [];
          signals.forEach((signal, at) => {
            expect(signal.type === 'started').toBe(at === 0);
            if ('nodeId' in signal) expect(['1', '2', '3']).toContain(signal.nodeId);
            if (signal.type === 'node_started') begun.push(signal.nodeId);
            if (signal.type === 'node_finished') {
              expect(begun).toContain(signal.nodeId);
              finished.push(signal.nodeId);
            }
          });
          expect(new Set(begun).size).toBe(begun.length);
          expect(new Set(finished).size).toBe(finished.length);
        }),
        { numRuns: 2_000 },
      );
    });
  });

  it('takes nodes for finished when the next begins, where the server sends no progress state', () => {
    const capture = readCapture('success');
    const older = {
      ...capture,
      lines: capture.lines.filter((line) => line.kind !== 'text' || !line.text.includes('progress_state')),
    };
    expect(shorten(replay(older).signals)).toBe(STORIES.success[0]);
  });

  it('does not read a progress state beyond half a megabyte', () => {
    const state = replay(readCapture('success'), (at) => at < 8).state;
    const huge = readMessage(
      `{"type": "progress_state", "data": {"x": "${'x'.repeat(600_000)}", "prompt_id": "p", "nodes": {}}}`,
    );
    const { pendingProgress, readsProgressState } = onMessage(state, huge).state;
    expect([pendingProgress, readsProgressState]).toEqual([null, false]);
  });

  it('gives a picture that names no node to the one that began last', () => {
    const { state } = replay(readCapture('preview'), (at) => at < 6);
    const frame = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 0xff, 0xd8]);
    expect(shorten(onFrame(state, readFrame(frame)).signals)).toBe('1~');
  });

  it('passes over pictures of other runs', () => {
    const capture = readCapture('preview');
    const state = initialState({ promptId: 'another', classes: new Map([['1', 'TestPreview']]) });
    for (const line of capture.lines) {
      if (line.kind === 'binary') expect(onFrame(state, readFrame(line.frame)).signals).toEqual([]);
    }
  });
});
