import { pickVersions } from './pick-version';

const stable = { name: 'stable', version: 1, weight: 90 };
const trial = { name: 'trial', version: 2, weight: 10 };
const picked = (seed: string, versions = [stable, trial]): string[] =>
  pickVersions('d', seed, versions).map(({ name }) => name);

describe('the version of a submission', () => {
  it('is the same for the same seed', () => {
    for (let index = 0; index < 100; index += 1) expect(picked(`${index}`)).toEqual(picked(`${index}`));
  });

  it('is each by its weight, over many', () => {
    const seeds = Array.from({ length: 10_000 }, (_, index) => `seed ${index}`);
    const onTrial = seeds.filter((seed) => picked(seed)[0] === 'trial').length;
    // Ten standard deviations of a fair draw: the seeds are fixed, so that it is the same number each time.
    expect(Math.abs(onTrial - 1_000)).toBeLessThan(300);
  });

  it('is followed by the other one, for when it cannot take jobs', () => {
    expect(new Set(picked('a'))).toEqual(new Set(['stable', 'trial']));
  });

  it('is never a newer one without weight', () => {
    const retired = { ...trial, weight: 0 };
    for (let index = 0; index < 100; index += 1) {
      expect(picked(`${index}`, [{ ...stable, weight: 100 }, retired])).toEqual(['stable']);
    }
  });

  it('is an older one without weight only when the newer one cannot take jobs', () => {
    const all = { ...trial, weight: 100 };
    for (let index = 0; index < 100; index += 1) {
      expect(picked(`${index}`, [{ ...stable, weight: 0 }, all])).toEqual(['trial', 'stable']);
    }
  });

  it('is the only one of a deployment that has one', () => {
    expect(picked('a', [{ ...stable, weight: 100 }])).toEqual(['stable']);
  });
});
