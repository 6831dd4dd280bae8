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
    expect(timestamp('2030-01-31t23:59:59.5z', '--from')).toBe('2030-01-31T23:59:59.500Z');
  });

  it('is the beginning of a day in UTC', () => {
    expect(timestamp('2028-02-29', '--from')).toBe('2028-02-29T00:00:00.000Z');
  });

  it.each([
    ...['', 'soon', '7', '90', '2027', '2027-05', '1.5.2027', '03/04/2027', '1 May 2027', '20270501', '+012027-05-01'],
    ...['2027-02-29', '2027-02-30', '2027-04-31T00:00:00Z', '2027-13-01', '2027-00-10'],
    ...['2027-05-01T12:00:00', '2027-05-01 12:00', '2027-05-01T12:00Z', '2027-05-01T24:00:00Z', '2027-05-01T12:61:00Z'],
    ...['2027-05-01T12:00:00+2', '2027-05-01T12:00:00+25:00', '2027-05-01T12:00:00 CET'],
  ])('is no time: %j', (text) => {
    const read = (): string => timestamp(text, '--since');
    expect(read).toThrow(`--since ${JSON.stringify(text)} is not valid.`);
    const cure = expect.stringContaining('2030-01-31 (UTC)') as string;
    expect(read).toThrow(expect.objectContaining({ facts: expect.objectContaining({ cure }) as object }) as Error);
  });
});
