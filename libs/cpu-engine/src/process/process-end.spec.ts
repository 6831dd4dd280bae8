import { parseWorkflow } from '@millrace/workflow';
import { endedUnder, type ProcessEnd } from './process-end';

const graph = parseWorkflow('{"7":{"class_type":"LoadImage","inputs":{}}}');
const exhausted: ProcessEnd = { kind: 'exhausted', reason: 'more than 5 MiB of memory' };
const crashed: ProcessEnd = { kind: 'exited', code: null, signal: 'SIGSEGV' };
const killed: ProcessEnd = { kind: 'exited', code: null, signal: 'SIGKILL' };
const left: ProcessEnd = { kind: 'exited', code: 7, signal: null };
const stopped: ProcessEnd = { kind: 'stopped', reason: 'The engine is closed.' };

describe('a run whose process ended', () => {
  it.each([
    ['took too much memory in a node', exhausted, '7', 'node_execution_error'],
    ['took too much memory between nodes', exhausted, null, 'engine_error'],
    ['crashed in a node', crashed, '7', 'node_execution_error'],
    ['ended of itself in a node', left, '7', 'node_execution_error'],
  ] as const)('has failed where it %s', (_, end, nodeId, code) => {
    const classType = nodeId === null ? null : 'LoadImage';
    expect(endedUnder(end, graph, nodeId)).toMatchObject({ status: 'failed', failure: { code, nodeId, classType } });
  });

  it.each([
    ['crashed between nodes', crashed, null, 'The compute process ended (SIGSEGV).'],
    ['was killed in a node', killed, '7', 'The compute process ended (SIGKILL).'],
    ['was ended by its engine', stopped, '7', 'The engine is closed.'],
  ] as const)('is lost where it %s', (_, end, nodeId, reason) => {
    expect(endedUnder(end, graph, nodeId)).toEqual({ status: 'lost', reason });
  });
});
