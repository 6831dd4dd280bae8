import { UsageFailure } from '../../process';
import { creditMicros, limitOrDefault, signedCreditMicros, timestamp, wholeNumber } from './typed-value';

describe('what is typed', () => {
  it('is exact in micro-credits for an amount of credits', () => {
    const amounts = ['25', '0.5', '0.000001'];
    const micros = [25_000_000, 500_000, 1];
    expect(amounts.map((text) => creditMicros(text, '<credits>'))).toEqual(micros);
    expect([...amounts, '-2.5'].map((text) => signedCreditMicros(text, '<credits>'))).toEqual([...micros, -2_500_000]);
  });

  it('advises a negative amount only where one takes credits back', () => {
    const cureOf = (read: () => number): unknown => {
      try {
        return read();
      } catch (error) {
        return error instanceof UsageFailure && error.facts.cure;
      }
    };
    const cure = 'Give an amount of credits such as 25 or 0.5';
    expect(cureOf(() => creditMicros('-2.5', '--spend-limit'))).toBe(`${cure}.`);
    expect(cureOf(() => signedCreditMicros('some', '<credits>'))).toBe(`${cure}; a negative one takes credits back.`);
  });

  it.each(['', '0', '1.2345678', '1e3', '+5', '1,5'])('is not an amount of credits: %j', (text) => {
    const refusal = `<credits> ${JSON.stringify(text)} is not valid.`;
    expect(() => creditMicros(text, '<credits>')).toThrow(refusal);
    expect(() => signedCreditMicros(text, '<credits>')).toThrow(refusal);
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
