const MIB = 2 ** 20;
/** Of a Kubernetes quantity. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
};
/** The rest is for buffers, stacks and code. The chart has the same share (`millrace.heapMiB`). */
const HEAP_SHARE = 0.6;

/**
 * The NODE_OPTIONS of a process with this memory limit: those that are given, with the heap that the limit has room for.
 *
 * @param memory a Kubernetes quantity, in bytes where it has no unit; of one with an unknown unit the options stay as they are.
 */
export function withHeapFor(memory: string, options: string): string {
  const [amount = ''] = /^[0-9.]+/.exec(memory) ?? [];
  const bytes = Number(amount) * (UNITS[memory.slice(amount.length)] ?? Number.NaN);
  if (!Number.isFinite(bytes)) return options;
  const heap = `--max-old-space-size=${Math.max(1, Math.floor((bytes * HEAP_SHARE) / MIB))}`;
  const others = options.split(/\s+/).filter((one) => one !== '' && !one.startsWith('--max-old-space-size'));
  return [...others, heap].join(' ');
}
