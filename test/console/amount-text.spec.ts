import { amountOf, faultOfAmount, textOf } from '../../apps/console/src/ui/amount-text';

describe('the field of an amount', () => {
  it.each([
    ['3000', 3_000_000_000],
    [' 2.5 ', 2_500_000],
    ['0.125', 125_000],
    ['1.1250', 1_125_000],
    ['0', 0],
    ['', null],
  ])('takes %p', (text, micros) => {
    expect(faultOfAmount(text)).toBeUndefined();
    expect(amountOf(text, 7)).toBe(micros);
  });

  it.each(['3.000', '12.500', '3,000', '2,5', '1.000.000', "3'000", '1e3', '0x10', '-1', 'much'])(
    'refuses %p, which has no sure meaning, and says how to write it',
    (text) => {
      expect(faultOfAmount(text)).toMatch(/write 3000, or|write 12500, or|^Must be a number such as/);
      expect(amountOf(text, 7)).toBeNaN();
    },
  );

  it('that nobody edited stays what it was', () => {
    expect(faultOfAmount(undefined)).toBeUndefined();
    expect(amountOf(undefined, 1_125_000)).toBe(1_125_000);
    expect(textOf(1_125_000)).toBe('1.125');
  });

  it('counts in its unit', () => {
    expect(amountOf('2', null, 3_600)).toBe(7_200);
    expect(amountOf('1.000', null, 3_600)).toBeNaN();
  });
});
