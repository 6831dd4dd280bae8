import { memberPieces } from '@millrace/workflow';

/** A body with the graph of a warm-up as it was written: a number of 2^53 or more would lose digits on its way through a value. */
export type WithGraphText<T extends { warm_up?: unknown }> = Omit<T, 'warm_up'> & {
  [K in keyof T & 'warm_up']: string | Extract<T[K], null | undefined>;
};

/** @param input a body that was checked, and its JSON. */
export function withGraphText<T extends { warm_up?: unknown }>({
  body,
  text,
}: {
  body: T;
  text: string;
}): WithGraphText<T> {
  if (body.warm_up === null || body.warm_up === undefined) return body as WithGraphText<T>;
  const piece = memberPieces(text).get('warm_up');
  return { ...body, warm_up: text.slice(piece?.start, piece?.end) };
}

/** Facts as JSON, and a graph with them as it is stored; see `WithGraphText`. */
export function printWithGraph(facts: object, graph: string | null): string {
  return `${JSON.stringify(facts).slice(0, -1)},"warm_up":${graph ?? 'null'}}`;
}
