import type { Size } from '../../../image/tensor';
import type { Work } from '../../../node-api/work';

/** Diffusion per step of the two substances. */
const DIFFUSION_U = 1;
const DIFFUSION_V = 0.5;

/** Weights of the neighbours beside and diagonal to a cell; they and the cell's own weight of -1 add up to 0. */
const BESIDE = 0.2;
const DIAGONAL = 0.05;

/**
 * Below this v is none: left alone it dies away into numbers so small that a processor takes a hundred times as long over
 * each (1,500 steps of 512 × 512 cells: 5.1 s with them, 2.5 s without).
 */
const LEAST = 1e-18;

/** How fast the trace follows v, and how often. It lags by some hundreds of steps, so old growth differs from young. */
const TRACE_EVERY = 8;
const TRACE_RATE = 1 / 64;

/**
 * The Gray-Scott model of reaction and diffusion (P. Gray and S. Scott, 1984; its patterns: J. Pearson, "Complex patterns in
 * a simple system", Science 261, 1993) in the discrete form of Karl Sims' "Reaction-Diffusion Tutorial":
 *
 *     u' = u + Du ∇²u - u v² + feed (1 - u)
 *     v' = v + Dv ∇²v + u v² - (feed + kill) v
 *
 * on a torus, so that the picture tiles; feed and kill may differ from cell to cell. Only sums, products and single-precision stores: the same on every machine.
 *
 * Cells lie in rows of width + 2: the outermost cells repeat those of the opposite side and spare the loop its bounds.
 */
export class GrayScott {
  readonly stride: number;
  u: Float32Array;
  v: Float32Array;
  /** v as it was on a slow average. */
  readonly trace: Float32Array;
  private nextU: Float32Array;
  private nextV: Float32Array;
  /** Per cell: what flows in, and at what rate v goes: feed and kill together. */
  private readonly feed: Float32Array;
  private readonly loss: Float32Array;
  private steps = 0;

  constructor(
    readonly size: Size,
    private readonly work: Work,
  ) {
    this.stride = size.width + 2;
    const cells = this.stride * (size.height + 2);
    this.u = work.floats(cells).fill(1);
    this.v = work.floats(cells);
    this.nextU = work.floats(cells);
    this.nextV = work.floats(cells);
    this.trace = work.floats(cells);
    this.feed = work.floats(cells);
    this.loss = work.floats(cells);
  }

  /** Set what feeds and kills a cell. */
  setClimate(cell: number, feed: number, kill: number): void {
    this.feed[cell] = feed;
    this.loss[cell] = feed + kill;
  }

  /** The number of the cell at (x, y). */
  at(x: number, y: number): number {
    return (y + 1) * this.stride + x + 1;
  }

  step(): void {
    const { height } = this.size;
    wrap(this.u, this.size);
    wrap(this.v, this.size);
    for (let y = 0; y < height; y += 1) {
      this.work.checkpoint();
      this.reactRow(this.at(0, y));
    }
    [this.u, this.nextU] = [this.nextU, this.u];
    [this.v, this.nextV] = [this.nextV, this.v];
    this.steps += 1;
    if (this.steps % TRACE_EVERY === 0) this.follow();
  }

  /**
   * One row, from its first cell. Sums of three cells in a column move through local variables, so that each cell is read
   * once per row and field.
   */
  private reactRow(first: number): void {
    const { u, v, nextU, nextV, stride, feed, loss } = this;
    let [uWest, uHere] = [u[first - 1] as number, u[first] as number];
    let [vWest, vHere] = [v[first - 1] as number, v[first] as number];
    let uWestEnds = (u[first - 1 - stride] as number) + (u[first - 1 + stride] as number);
    let uHereEnds = (u[first - stride] as number) + (u[first + stride] as number);
    let vWestEnds = (v[first - 1 - stride] as number) + (v[first - 1 + stride] as number);
    let vHereEnds = (v[first - stride] as number) + (v[first + stride] as number);
    const end = first + this.size.width;
    for (let i = first; i < end; i += 1) {
      const uEast = u[i + 1] as number;
      const vEast = v[i + 1] as number;
      const uEastEnds = (u[i + 1 - stride] as number) + (u[i + 1 + stride] as number);
      const vEastEnds = (v[i + 1 - stride] as number) + (v[i + 1 + stride] as number);
      const uSpread = BESIDE * (uWest + uEast + uHereEnds) + DIAGONAL * (uWestEnds + uEastEnds) - uHere;
      const vSpread = BESIDE * (vWest + vEast + vHereEnds) + DIAGONAL * (vWestEnds + vEastEnds) - vHere;
      const reaction = uHere * vHere * vHere;
      nextU[i] = uHere + DIFFUSION_U * uSpread - reaction + (feed[i] as number) * (1 - uHere);
      const amount = vHere + DIFFUSION_V * vSpread + reaction - (loss[i] as number) * vHere;
      nextV[i] = amount < LEAST ? 0 : amount;
      uWest = uHere;
      uHere = uEast;
      vWest = vHere;
      vHere = vEast;
      uWestEnds = uHereEnds;
      uHereEnds = uEastEnds;
      vWestEnds = vHereEnds;
      vHereEnds = vEastEnds;
    }
  }

  private follow(): void {
    const { trace, v } = this;
    for (let i = 0; i < trace.length; i += 1)
      trace[i] = (trace[i] as number) + ((v[i] as number) - (trace[i] as number)) * TRACE_RATE;
  }
}

/** Repeat the outermost cells on the opposite side. */
export function wrap(cells: Float32Array, { width, height }: Size): void {
  const stride = width + 2;
  for (let row = stride; row <= height * stride; row += stride) {
    cells[row] = cells[row + width] as number;
    cells[row + width + 1] = cells[row + 1] as number;
  }
  cells.copyWithin(0, height * stride, (height + 1) * stride);
  cells.copyWithin((height + 1) * stride, stride, 2 * stride);
}
