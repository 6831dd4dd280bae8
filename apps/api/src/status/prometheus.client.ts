import { z } from 'zod';

/** After which Prometheus counts as one that does not answer. */
export const PROMETHEUS_TIMEOUT_MS = 5_000;
/** Thirty days of three series are some kilobytes. */
const ANSWER_BYTES = 1_048_576;

const labels = z.record(z.string(), z.string());
const point = z.tuple([z.number(), z.string()]);
const answerOf = <Result extends z.ZodType>(resultType: string, result: Result) =>
  z.object({
    status: z.literal('success'),
    data: z.object({ resultType: z.literal(resultType), result: z.array(result) }),
  });
const vector = answerOf('vector', z.object({ metric: labels, value: point }));
const matrix = answerOf('matrix', z.object({ metric: labels, values: z.array(point) }));

/** A value of a series. `value` is null where Prometheus has NaN, as a share of nothing is. */
export interface Sample {
  at: Date;
  value: number | null;
}

/** Samples of one series, the oldest first. */
export interface Series {
  labels: Readonly<Record<string, string>>;
  samples: Sample[];
}

/** The span of a query: `step` seconds between two samples. */
export interface Span {
  start: Date;
  end: Date;
  step: number;
}

/** Asks a Prometheus by its HTTP API (prometheus.io, "HTTP API", expression queries). */
export class PrometheusClient {
  private readonly base: string;

  /** @param url of its root; a path before the API's own is kept */
  constructor(
    url: string,
    private readonly timeoutMs = PROMETHEUS_TIMEOUT_MS,
  ) {
    this.base = `${url.replace(/\/$/, '')}/api/v1`;
  }

  /** The series of an expression now, each of one sample. */
  async now(query: string): Promise<Series[]> {
    const { data } = vector.parse(await this.ask('query', { query }));
    return data.result.map(({ metric, value }) => ({ labels: metric, samples: [sampleOf(value)] }));
  }

  /** The series of an expression over a span of time. */
  async over(query: string, { start, end, step }: Span): Promise<Series[]> {
    const span = { start: start.toISOString(), end: end.toISOString(), step: String(step) };
    const { data } = matrix.parse(await this.ask('query_range', { query, ...span }));
    return data.result.map(({ metric, values }) => ({ labels: metric, samples: values.map(sampleOf) }));
  }

  private async ask(operation: string, parameters: Record<string, string>): Promise<unknown> {
    const answer = await fetch(`${this.base}/${operation}`, {
      method: 'POST',
      body: new URLSearchParams(parameters),
      redirect: 'error',
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Error(`Prometheus answered ${operation} with ${answer.status}`);
    }
    return JSON.parse(await textOf(answer)) as unknown;
  }
}

/** @throws when it is longer than figures can be */
async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES) throw new Error(`Prometheus answered with more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sampleOf([seconds, text]: z.infer<typeof point>): Sample {
  const value = Number(text);
  return { at: new Date(seconds * 1_000), value: Number.isFinite(value) ? value : null };
}
