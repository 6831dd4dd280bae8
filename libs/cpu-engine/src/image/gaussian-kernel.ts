const { fround } = Math;

/** torch adds up in so many lanes at once, of so many rows. */
const LANES = 8;
const ROWS = 4;

/**
 * The field's Gaussian window: 2 * radius + 1 places per axis from -1 to 1, so that `sigma` is a fraction of the radius and
 * not a number of pixels; weights exp(-d² / 2 sigma²), row by row, that add up to 1. Rounded to single precision where
 * torch rounds: on flat areas the last bit of the sum decides whether a level is lost.
 */
export function gaussianKernel(radius: number, sigma: number): Float32Array {
  const side = 2 * radius + 1;
  const step = fround(2 / (side - 1));
  const places = Float32Array.from({ length: side }, (_, i) =>
    i < radius ? -1 + step * i : 1 - step * (side - 1 - i),
  );
  const spread = fround(2 * sigma * sigma);
  const weights = new Float32Array(side * side);
  for (let i = 0; i < weights.length; i += 1) {
    const y = places[Math.floor(i / side)] as number;
    const x = places[i % side] as number;
    const distance = fround(Math.sqrt(fround(fround(y * y) + fround(x * x))));
    weights[i] = Math.exp(fround(-fround(distance * distance) / spread));
  }
  const sum = singleSum(weights);
  return weights.map((weight) => weight / sum);
}

/**
 * The sum in single precision as torch adds up an array of up to a few thousand values: lane by lane in blocks of 16 rows of
 * four vectors, the blocks after one another, then what is left over.
 */
export function singleSum(values: Float32Array): number {
  const vectors = Math.floor(values.length / LANES);
  const lanes = new Float32Array(LANES);
  for (let lane = 0; lane < LANES; lane += 1) lanes[lane] = laneSum(values, vectors, lane);
  let sum = 0;
  for (let i = vectors * LANES; i < values.length; i += 1) sum = fround(sum + (values[i] as number));
  for (const lane of lanes) sum = fround(sum + lane);
  return sum;
}

const BLOCK = 16;

function laneSum(values: Float32Array, vectors: number, lane: number): number {
  const at = (vector: number): number => values[vector * LANES + lane] as number;
  const whole = Math.floor(vectors / ROWS);
  const rows = new Float32Array(ROWS);
  for (let row = 0; row < ROWS; row += 1) {
    let blocks = 0;
    let open = 0;
    for (let i = 0; i < whole; i += 1) {
      open = fround(open + at(i * ROWS + row));
      if ((i + 1) % BLOCK !== 0) continue;
      blocks = fround(blocks + open);
      open = 0;
    }
    rows[row] = open + blocks;
  }
  for (let i = whole * ROWS; i < vectors; i += 1) rows[0] = (rows[0] as number) + at(i);
  return rows.reduce((sum, row) => fround(sum + row));
}
