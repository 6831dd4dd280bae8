import type { Progress } from '@millrace/contracts';
import { boundedProgress, boundedTimings, logTail } from './bounded-run';
import type { NodeTiming } from './job';

const small: Progress = { value: 0.5, nodes_done: 1, nodes_total: 2, current_node: '1', current_node_class: 'Loader' };

describe('a progress', () => {
  it('that is small is kept as it is', () => {
    const whole: Progress = { ...small, message: 'Loader is running', staging: { staged_bytes: 1, total_bytes: 2 } };
    for (const progress of [small, whole, { ...small, current_node: null, message: null }]) {
      expect(boundedProgress(progress)).toEqual(progress);
    }
  });

  it('keeps the beginning of its texts, cut between characters, and once', () => {
    const faces = `x${'😀'.repeat(70_000)}`;
    const progress = boundedProgress({ ...small, current_node: faces, current_node_class: faces, message: faces });
    expect(progress.message).toMatch(/^x(?:😀)+…$/u);
    expect(JSON.stringify(progress).length).toBeLessThan(2_000);
    expect(boundedProgress(progress)).toEqual(progress);
  });
});

it('times of nodes are no more than a graph has nodes, with names as long as its own', () => {
  const node: NodeTiming = { nodeId: '1', classType: 'Loader', state: 'done', ms: 5 };
  expect(boundedTimings([node])).toEqual([node]);
  const long = { ...node, nodeId: 'n'.repeat(70_000), classType: 'c'.repeat(70_000) };
  const [first, ...others] = boundedTimings(Array<NodeTiming>(6_000).fill(long));
  expect(first).toEqual({ ...node, nodeId: `${'n'.repeat(256)}…`, classType: `${'c'.repeat(256)}…` });
  expect(others).toHaveLength(4_999);
});

describe('the end of a log', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcdef', 4, 'cdef'],
    ['aé€', 4, '€'],
    ['x😀😀', 4, '😀'],
    ['x😀😀', 7, '😀'],
    ['😀abc', 4, 'abc'],
    ['abc', 0, ''],
  ])('%s in %i bytes is %s', (text, maxBytes, end) => {
    expect(logTail({ text, truncated: false }, maxBytes)).toEqual({ text: end, truncated: end !== text });
  });

  it('stays cut where it was cut before', () => {
    expect(logTail({ text: 'abc', truncated: true }, 10)).toEqual({ text: 'abc', truncated: true });
  });
});
