import { onHistory } from './run-reducer';
import { initialState } from './run-state';

it('a history of many reports is read once, and not once for each of them', () => {
  const reports = Array.from({ length: 20_000 }, (_, at) => ({
    source: `1.0.0.${at}`,
    displayNode: '1',
    output: { text: ['a'] },
  }));
  const before = initialState({ promptId: 'p', classes: new Map([['1', 'Unknown']]) });
  const beganAt = performance.now();
  const { signals, state } = onHistory(before, { messages: [], completed: true, outputs: reports });
  expect(performance.now() - beganAt).toBeLessThan(1_000);
  expect(signals.filter(({ type }) => type === 'reported')).toHaveLength(reports.length);
  expect(state.reported.size).toBe(reports.length);
  expect(before.reported.size).toBe(0);
});
