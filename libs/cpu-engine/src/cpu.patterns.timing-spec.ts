import { startRun, type Graph } from '@millrace/engines/conformance';
import { CpuEngine } from './cpu.engine';

/** A pattern is stopped after two seconds; starting a process again is the rest. */
const BOUND_MS = 10_000;

let engine: CpuEngine;
beforeAll(async () => {
  engine = new CpuEngine();
  await engine.start();
});
afterAll(() => engine.close());

const node = (class_type: string, inputs: Record<string, unknown>): Graph[string] => ({ class_type, inputs });
const switches = { case_insensitive: false, multiline: false, dotall: false };

it.each([
  ['RegexMatch', switches],
  ['RegexExtract', { ...switches, mode: 'All Matches', group_index: 1 }],
  ['RegexReplace', { ...switches, replace: 'x' }],
])('a regular expression that would take years is stopped soon: %s', async (name, more) => {
  const regex = node(name, { string: `${'a'.repeat(64)}b`, regex_pattern: '^(a+)+$', ...more });
  const startedAt = performance.now();
  const { result } = startRun(engine, { '1': regex, '2': node('PreviewAny', { source: ['1', 0] }) });
  expect(await result).toMatchObject({ status: 'failed', failure: { nodeId: '1' } });
  expect(performance.now() - startedAt).toBeLessThan(BOUND_MS);
});
