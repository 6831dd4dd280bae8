import { imageOf, maskOf } from '../../fixtures/test-work';
import { tensorText } from './tensor-text';

describe('a tensor as torch prints it', () => {
  it('aligns its numbers, four digits each, a line per row', () => {
    expect(tensorText(maskOf(2, 2, [0.5, 1, 0, 0.03125]))).toBe(
      'tensor([[[0.5000, 1.0000],\n         [0.0000, 0.0312]]])',
    );
  });

  it('writes whole numbers with a point alone', () => {
    expect(tensorText(maskOf(2, 1, [0, 1]))).toBe('tensor([[[0., 1.]]])');
  });

  it('uses exponents for numbers far apart', () => {
    expect(tensorText(maskOf(2, 1, [1e-5, 1]))).toBe('tensor([[[1.0000e-05, 1.0000e+00]]])');
  });

  it('shows the ends of long axes only', () => {
    const text = tensorText(imageOf(40, 40, 3, [0]));
    expect(text.match(/\.\.\./g)).toHaveLength(7);
    expect(text.split('\n').every((line) => line.length <= 80)).toBe(true);
  });
});
