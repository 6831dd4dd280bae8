import { creditMicros, limitOrDefault, timestamp, wholeNumber } from './typed-value';

describe('what is typed', () => {
  it('is exact in micro-credits for an amount of credits', () => {
    expect(['25', '0.5', '0.000001', '-2.5'].map((text) => creditMicros(text, '<credits>'))).toEqual([
      25_000_000, 500_000, 1, -2_500_000,
    ]);
  });

  it.each(['', '0', '1.2345678', '1e3', '+5', '1,5'])('is not an amount of credits: %j', (text) => {
    expect(() => creditMicros(text, '<credits>')).toThrow(`<credits> ${JSON.stringify(text)} is not valid.`);
  });

  it.each(['', '-1', '1.0', '11', '0x5', '99999999999999999999'])('is not a whole number from 0 to 10: %j', (text) => {
    expect(() => wholeNumber(0, 10)(text, '--weight')).toThrow('--weight');
  });

  it('is null for a limit that goes back to the default', () => {
    expect(['default', '0', '10'].map((text) => limitOrDefault(0, 10)(text, '--queue-limit'))).toEqual([null, 0, 10]);
    expect(() => limitOrDefault(0)('Default', '--queue-limit')).toThrow('--queue-limit "Default" is not valid.');
  });

  it('is a time as the wire has it', () => {
    expect(timestamp('2030-01-31T12:00:00+02:00', '--from')).toBe('2030-01-31T10:00:00.000Z');
    expect(() => timestamp('soon', '--from')).toThrow('--from "soon" is not valid.');
  });
});
