import type { EngineResult } from '@millrace/engines';
import { endOf, type AttemptEnd, type AttemptFacts } from './attempt-end';

const interrupted: EngineResult = { status: 'interrupted' };
const lost: EngineResult = { status: 'lost', reason: 'it died' };
const diskFailed: EngineResult = { status: 'disk_failed', reason: 'the disk of its worker is full (ENOSPC)' };
const failed: Extract<EngineResult, { status: 'failed' }> = {
  status: 'failed',
  failure: { code: 'node_execution_error', message: 'no', nodeId: '7', classType: 'Show', traceback: 'at 7' },
};
/** Before it began: another attempt would be refused alike, and is not made. */
const refusedGraph: EngineResult = { status: 'failed', failure: { ...failed.failure, isRefused: true } };
const succeeded: EngineResult = { status: 'succeeded' };
const stored = { status: 'stored' } as const;
const notStored = { status: 'failed', nodeId: '7', reason: 'the blob store is full' } as const;
const outOfReach = { status: 'out_of_reach', nodeId: '7', reason: 'its worker is cut off' } as const;
const refused = { status: 'refused', nodeId: '7', reason: 'it is too large' } as const;
const leaseLost = { status: 'lease_lost' } as const;

type Facts = Omit<AttemptFacts, 'draining'>;

function staying(facts: Facts): AttemptFacts {
  return { ...facts, draining: false };
}

type Short = [kind: string, code: string | null];

function shortOf(end: AttemptEnd): Short {
  return end.kind === 'finished' ? [end.ending, end.failure?.code ?? null] : [end.kind, null];
}

describe('the end of an attempt', () => {
  it.each<[string, Facts, Short]>([
    ['success', { run: succeeded, lease: null, outputs: stored }, ['succeeded', null]],
    ['success, canceled late', { run: succeeded, lease: 'canceled', outputs: stored }, ['succeeded', null]],
    [
      'success, not stored',
      { run: succeeded, lease: null, outputs: notStored },
      ['output_not_stored', 'output_storage_error'],
    ],
    ['success, out of reach of the store', { run: succeeded, lease: null, outputs: outOfReach }, ['given_up', null]],
    [
      'an interrupt, out of reach of the store',
      { run: interrupted, lease: null, outputs: outOfReach },
      ['given_up', null],
    ],
    ['a failed node', { run: failed, lease: null, outputs: stored }, ['node_failed', 'node_execution_error']],
    [
      'a node that the engine refused',
      { run: refusedGraph, lease: null, outputs: stored },
      ['engine_failed', 'node_execution_error'],
    ],
    [
      'a failed node, not stored',
      { run: failed, lease: null, outputs: notStored },
      ['node_failed', 'node_execution_error'],
    ],
    ['a cancel', { run: interrupted, lease: 'canceled', outputs: stored }, ['canceled_while_running', null]],
    [
      'used-up credits',
      { run: interrupted, lease: 'exhausted', outputs: stored },
      ['credits_exhausted', 'credits_exhausted'],
    ],
    ['its time limit', { run: interrupted, lease: 'overtime', outputs: stored }, ['overtime', 'execution_timeout']],
    ['an engine that ends a run unasked', { run: interrupted, lease: null, outputs: stored }, ['given_up', null]],
    [
      'an output too many, when one before it could not be stored',
      { run: interrupted, lease: null, outputs: notStored },
      ['output_not_stored', 'output_storage_error'],
    ],
    ['a lost engine', { run: lost, lease: null, outputs: stored }, ['given_up', null]],
    ['a disk that is full', { run: diskFailed, lease: null, outputs: stored }, ['given_up', null]],
    ['a lost engine, canceled', { run: lost, lease: 'canceled', outputs: stored }, ['given_up', null]],
    ...[lost, diskFailed].flatMap((run): [string, Facts, Short][] => [
      [
        `used-up credits, ${run.status}`,
        { run, lease: 'exhausted', outputs: stored },
        ['credits_exhausted', 'credits_exhausted'],
      ],
      [`its time limit, ${run.status}`, { run, lease: 'overtime', outputs: stored }, ['overtime', 'execution_timeout']],
    ]),
    ...[succeeded, interrupted, lost].map((run): [string, Facts, Short] => [
      `an output that is refused, and a run that then ${run.status}`,
      { run, lease: null, outputs: refused },
      ['output_refused', 'node_execution_error'],
    ]),
    [
      'a failed node, with an output refused',
      { run: failed, lease: null, outputs: refused },
      ['node_failed', 'node_execution_error'],
    ],
    ['a lost lease', { run: interrupted, lease: 'lost', outputs: stored }, ['lease_lost', null]],
    ['a lease found lost by an output', { run: succeeded, lease: null, outputs: leaseLost }, ['lease_lost', null]],
  ])('by %s', (_name, facts, end) => {
    expect(shortOf(endOf(staying(facts)))).toEqual(end);
  });

  it.each<[string, Facts, Short]>([
    ['is given back when it was running', { run: interrupted, lease: null, outputs: stored }, ['handed_back', null]],
    [
      'is given back when an output was not stored, too',
      { run: interrupted, lease: null, outputs: notStored },
      ['handed_back', null],
    ],
    ['is given back when the engine did not stop', { run: lost, lease: null, outputs: stored }, ['handed_back', null]],
    [
      'is given back when the engine did not stop, and an output was not stored',
      { run: lost, lease: null, outputs: notStored },
      ['handed_back', null],
    ],
    ['ends by a cancel', { run: interrupted, lease: 'canceled', outputs: stored }, ['canceled_while_running', null]],
    ['is given up when canceled, and lost', { run: lost, lease: 'canceled', outputs: stored }, ['given_up', null]],
    [
      'ends by its time limit when the engine did not stop',
      { run: lost, lease: 'overtime', outputs: stored },
      ['overtime', 'execution_timeout'],
    ],
    ['is given up by its disk', { run: diskFailed, lease: null, outputs: stored }, ['given_up', null]],
    [
      'ends by its time limit',
      { run: interrupted, lease: 'overtime', outputs: stored },
      ['overtime', 'execution_timeout'],
    ],
    ['succeeds', { run: succeeded, lease: null, outputs: stored }, ['succeeded', null]],
  ])('on a worker that drains: it %s', (_name, facts, end) => {
    expect(shortOf(endOf({ ...facts, draining: true }))).toEqual(end);
  });

  it('by a disk that is full is the fault of the worker: it is never charged', () => {
    const { reason } = diskFailed as { reason: string };
    expect(endOf(staying({ run: diskFailed, lease: null, outputs: stored }))).toEqual({
      kind: 'given_up',
      loss: { by: 'worker', reason },
    });
  });

  it('by outputs that its worker cannot send is the fault of the worker', () => {
    expect(endOf(staying({ run: succeeded, lease: null, outputs: outOfReach }))).toEqual({
      kind: 'given_up',
      loss: { by: 'worker', reason: 'its worker is cut off' },
    });
  });

  it('by an output that is refused names its node', () => {
    const outputs = { ...refused, nodeId: '7'.repeat(5_000) };
    const end = endOf(staying({ run: succeeded, lease: null, outputs }));
    expect(end).toMatchObject({ failure: { node_id: '7'.repeat(5_000) } });
    const { message } = (end as { failure: { message: string } }).failure;
    expect(message).toBe(`An output of node ${'7'.repeat(100)} could not be kept: it is too large.`);
  });
});
