import { isFinal } from './statement';

it('a month is final ten minutes after it ended, when no posting of it can be under way', () => {
  const to = new Date('2026-02-01T00:00:00Z');
  expect(isFinal(to, new Date('2026-02-01T00:09:59.999Z'))).toBe(false);
  expect(isFinal(to, new Date('2026-02-01T00:10:00Z'))).toBe(true);
});
