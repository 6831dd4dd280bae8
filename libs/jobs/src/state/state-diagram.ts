import { TRANSITIONS } from './job-state';

/** The table of transitions as a Mermaid state diagram: what the documentation shows. */
export function stateDiagram(): string {
  const moves = TRANSITIONS.map(({ from, to, by }) => `  ${from ?? '[*]'} --> ${to}: ${by}`);
  const left = new Set<string>(TRANSITIONS.flatMap(({ from }) => from ?? []));
  const ends = [...new Set<string>(TRANSITIONS.map(({ to }) => to))].filter((status) => !left.has(status));
  return ['stateDiagram-v2', ...moves, ...ends.map((status) => `  ${status} --> [*]`)].join('\n');
}
