import { Deadline } from './deadline';

const endless = (): boolean => /^(a+)+$/.test(`${'a'.repeat(64)}b`);

describe('the deadline of a node', () => {
  it('lets through what a part makes, and what it throws', () => {
    const deadline = new Deadline(1_000);
    expect(deadline.run(() => 7, '')).toBe(7);
    const own = new TypeError('own');
    expect(() =>
      deadline.run(() => {
        throw own;
      }, ''),
    ).toThrow(own);
  });

  it('breaks a regular expression off, and lets nothing more begin once the time is up', () => {
    const deadline = new Deadline(50);
    expect(() => deadline.run(endless, 'Be quick.')).toThrow(
      'This node computed for 0.05 s and was stopped. Be quick.',
    );
    const part = jest.fn<void, []>();
    expect(() => deadline.run(part, '')).toThrow(/was stopped/);
    expect(part).not.toHaveBeenCalled();
  });
});
