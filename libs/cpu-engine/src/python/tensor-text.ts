import type { ImageTensor, MaskTensor } from '../image/tensor';
import { roundHalfEven } from './round';

/** torch's print options: beyond so many values only the first and last of each axis are shown, in lines so long. */
const THRESHOLD = 1000;
const EDGE = 3;
const LINE_WIDTH = 80;
const PRECISION = 4;
const PREFIX = 'tensor(';

/** A tensor, or a slice of one: the sizes of its axes, and where its values begin. */
interface Slice {
  sizes: number[];
  from: number;
}

/** `str(tensor)`: an image or mask as torch prints it. */
export function tensorText(tensor: ImageTensor | MaskTensor): string {
  const { batch, height, width, channels, data, kind } = tensor;
  const sizes = kind === 'IMAGE' ? [batch, height, width, channels] : [batch, height, width];
  return new TensorPrinter(data, { sizes, from: 0 }).text();
}

class TensorPrinter {
  private readonly summarize: boolean;
  private readonly format: NumberFormat;

  constructor(
    private readonly data: Float32Array,
    private readonly whole: Slice,
  ) {
    this.summarize = data.length > THRESHOLD;
    this.format = new NumberFormat(this.shownValues(whole));
  }

  text(): string {
    return `${PREFIX}${this.data.length === 0 ? '[]' : this.slice(this.whole, PREFIX.length)})`;
  }

  private slice(slice: Slice, indent: number): string {
    if (slice.sizes.length === 1) return this.vector(slice, indent);
    const parts = this.shownPlaces(slice, '...').map((part) =>
      typeof part === 'string' ? part : this.slice(part, indent + 1),
    );
    return `[${parts.join(`,${'\n'.repeat(slice.sizes.length - 1)}${' '.repeat(indent + 1)}`)}]`;
  }

  private vector(slice: Slice, indent: number): string {
    const parts = this.shownPlaces(slice, ' ...').map((part) =>
      typeof part === 'string' ? part : this.format.text(this.data[part.from] as number),
    );
    const perLine = Math.max(1, Math.floor((LINE_WIDTH - indent) / (this.format.width + 2)));
    const lines: string[] = [];
    for (let at = 0; at < parts.length; at += perLine) lines.push(parts.slice(at, at + perLine).join(', '));
    return `[${lines.join(`,\n${' '.repeat(indent + 1)}`)}]`;
  }

  /** The slices along the first axis that are shown, with a mark for those left out. */
  private shownPlaces({ sizes, from }: Slice, mark: string): (Slice | string)[] {
    const [size = 0, ...inner] = sizes;
    const stride = inner.reduce((product, length) => product * length, 1);
    const at = (index: number): Slice => ({ sizes: inner, from: from + index * stride });
    if (!this.summarize || size <= 2 * EDGE) return Array.from({ length: size }, (_, index) => at(index));
    const edge = Array.from({ length: EDGE }, (_, index) => index);
    return [...edge.map(at), mark, ...edge.map((index) => at(size - EDGE + index))];
  }

  private shownValues(slice: Slice): number[] {
    if (slice.sizes.length === 0) return [this.data[slice.from] as number];
    return this.shownPlaces(slice, '').flatMap((part) => (typeof part === 'string' ? [] : this.shownValues(part)));
  }
}

/** How the numbers of a tensor are written: alike, right-aligned, as plain or as whole numbers or with an exponent. */
class NumberFormat {
  readonly width: number;
  private readonly whole: boolean;
  private readonly scientific: boolean;

  constructor(values: number[]) {
    const counted = values.filter((value) => Number.isFinite(value) && value !== 0);
    const sizes = counted.map(Math.abs);
    const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
    const smallest = sizes.reduce((a, b) => Math.min(a, b), Infinity);
    this.whole = counted.every(Number.isInteger);
    this.scientific = counted.length > 0 && (largest / smallest > 1000 || largest > 1e8 || smallest < 1e-4);
    this.width = counted.reduce((width, value) => Math.max(width, this.digits(value).length), 1);
  }

  text(value: number): string {
    return this.digits(value).padStart(this.width);
  }

  private digits(value: number): string {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
    const sign = value < 0 || Object.is(value, -0) ? '-' : '';
    const size = Math.abs(value);
    if (this.scientific) return sign + size.toExponential(PRECISION).replace(/e([+-])(\d)$/, 'e$10$2');
    if (this.whole) return `${sign}${size}.`;
    // Single precision times ten thousand is exact, so that halves go to the even digit as in Python.
    return sign + (roundHalfEven(size * 10 ** PRECISION) / 10 ** PRECISION).toFixed(PRECISION);
  }
}
