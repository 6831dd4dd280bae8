import {
  amountOf,
  faultOfAmount,
  faultOfSignedAmount,
  signedAmountOf,
  textOf,
} from '../../apps/console/src/ui/amount-text';

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
    expect(textOf(1_125_000)).toBe('1.1250');
  });

  it('counts in its unit', () => {
    expect(amountOf('2', null, 3_600)).toBe(7_200);
    expect(amountOf('1.000', null, 3_600)).toBeNaN();
  });
});

describe('an amount that may be below zero', () => {
  it.each([
    ['-2.5', -2_500_000],
    ['2.5', 2_500_000],
    ['', null],
  ])('is taken where it is sure: %j', (text, micros) => {
    expect([signedAmountOf(text), faultOfSignedAmount(text)]).toEqual([micros, undefined]);
  });

  it.each([
    ['3.000', 'Could be 3000 or 3: write 3000, or 3.0000.'],
    ['-3.000', 'Could be -3000 or -3: write -3000, or -3.0000.'],
    ['--3', /Must be a number/],
    ['-', /Must be a number/],
    ['-1,5', /Must be a number/],
  ])('is refused as one above it: %s', (text, fault) => {
    expect(signedAmountOf(text)).toBeNaN();
    expect(faultOfSignedAmount(text)).toMatch(fault);
  });

  it('is no amount of other fields', () => {
    expect(amountOf('-1', 7)).toBeNaN();
    expect(faultOfAmount('-1')).toMatch(/Must be a number/);
  });
});

it.each([3_000_000, 1_125_000, 123_456_000, 1_234_567, 3_000_000_000, 1, 0])(
  'the amount that a field shows can be typed there: %d',
  (micros) => {
    expect(amountOf(textOf(micros), null)).toBe(micros);
  },
);
