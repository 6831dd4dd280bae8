import { age, credits, duration, elapsed, moment, size } from './format';

describe('figures for people', () => {
  it.each([
    [0, '0 ms'],
    [870.4, '870 ms'],
    [4210, '4.2 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min 00 s'],
    [65_000, '1 min 05 s'],
    [7_800_000, '2 h 10 min'],
  ])('%d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('a time that runs is shown in whole seconds', () => {
    expect([elapsed(-5), elapsed(1999), elapsed(61_000)]).toEqual(['0 s', '1 s', '1 min 01 s']);
  });

  it.each([
    [812, '812 B'],
    [24_130, '24.1 kB'],
    [412_345, '412 kB'],
    [999_600, '1.0 MB'],
    [3_200_000_000_000_000, '3200 TB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(size(bytes)).toBe(text);
  });

  it.each([
    [6400, '0.0064'],
    [1_000_000, '1'],
    [24_993_600, '24.9936'],
    [-1, '-0.000001'],
    [0, '0'],
  ])('%d micro-credits are %s credits', (micros, text) => {
    expect(credits(micros)).toBe(text);
  });

  it('says how long ago a time was', () => {
    const nowMs = Date.parse('2026-11-21T12:00:00Z');
    expect(age('2026-11-21T11:59:48Z', nowMs)).toBe('12 s ago');
    expect(age('2026-11-19T11:00:00Z', nowMs)).toBe('2 d ago');
  });

  it.each([
    [-7_200, '2 h ago'],
    [0.4, 'now'],
    [59, 'in 59 s'],
    [86_400 * 90, 'in 90 d'],
    [86_400 * 91, '1970-04-02'],
  ])('%d s from now is %s', (seconds, text) => {
    expect(moment(new Date(seconds * 1000).toISOString(), 0)).toBe(text);
  });

  it('what is no time is shown as it is', () => {
    expect(moment('never', 0)).toBe('never');
  });
});
