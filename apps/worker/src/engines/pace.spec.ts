import { Pace } from './pace';

describe('the pace of a worker', () => {
  it('is unknown before its first attempt, which it then equals', () => {
    const pace = new Pace();
    expect(pace.attemptMs).toBeNull();
    pace.add(1_000.4);
    expect(pace.attemptMs).toBe(1_000);
  });

  it('follows what recent attempts took, and is moved little by one', () => {
    const pace = new Pace();
    pace.add(1_000);
    pace.add(10_000);
    expect(pace.attemptMs).toBeLessThan(3_000);
    for (let n = 0; n < 40; n += 1) pace.add(10_000);
    expect(pace.attemptMs).toBeGreaterThan(9_900);
  });
});
