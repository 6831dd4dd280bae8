import { MICROS_PER_CREDIT, creditsText } from './amount';

describe('an amount for people', () => {
  it.each([
    [0n, '0'],
    [1n, '0.000001'],
    [600_000n, '0.6'],
    [MICROS_PER_CREDIT, '1'],
    [-2_500_000n, '-2.5'],
  ])('%s micro-credits read %s', (micros, text) => {
    expect(creditsText(micros)).toBe(text);
  });
});
