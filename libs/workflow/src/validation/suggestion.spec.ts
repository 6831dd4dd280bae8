import { nearestName } from './suggestion';

const NAMES = ['KSampler', 'KSamplerAdvanced', 'SaveImage', 'LoadImage', 'VAEDecode'];

describe('the nearest name', () => {
  it.each([
    ['ksampler', 'KSampler'],
    ['KSamplr', 'KSampler'],
    ['SaveImages', 'SaveImage'],
    ['LaodImage', 'LoadImage'],
    ['VAEDecoder', 'VAEDecode'],
    ['KSamplerAdvance', 'KSamplerAdvanced'],
  ])('to %s is %s', (name, nearest) => {
    expect(nearestName(name, NAMES)).toBe(nearest);
  });

  it.each(['', 'K', 'ImageScale', 'x'.repeat(1_000_000)])('is none where nothing is near', (name) => {
    expect(nearestName(name, NAMES)).toBeNull();
  });
});
