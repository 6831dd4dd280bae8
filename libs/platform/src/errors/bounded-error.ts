import { beginningOf, type ErrorEnvelope } from '@millrace/contracts';

const MESSAGE_CHARACTERS = 2_000;
/** Of one text in the details. The longest names that are accepted fit. */
const TEXT_CHARACTERS = 1_024;
/** Of one list in the details: more help nobody. */
const LISTED_ITEMS = 1_000;
/** Of all details together, as JSON. With message and headers an error stays below 64 KB. */
const DETAILS_BYTES = 49_152;

/**
 * An error that is small, no matter what was posted: texts are cut, lists end when they are long enough. `details.left_out`
 * then says for each list how many of its items are not there; to what is cut here it adds what was never collected.
 */
export function boundedError({ error }: ErrorEnvelope): ErrorEnvelope {
  const message = beginningOf(error.message, MESSAGE_CHARACTERS);
  const { details } = error;
  return { error: details ? { ...error, message, details: boundedDetails(details) } : { ...error, message } };
}

function boundedDetails(details: Record<string, unknown>): Record<string, unknown> {
  const budget = new ErrorBudget(DETAILS_BYTES);
  const bounded: Record<string, unknown> = {};
  const { left_out: uncollected, ...rest } = details;
  const leftOut: Record<string, number> = { ...(uncollected as Record<string, number> | undefined) };
  for (const [name, value] of Object.entries(rest)) {
    const kept = Array.isArray(value) ? budget.list(value) : isMap(value) ? budget.map(value) : cutTexts(value);
    bounded[name] = kept;
    const missing = itemsIn(value) - itemsIn(kept);
    if (missing > 0) leftOut[name] = (leftOut[name] ?? 0) + missing;
  }
  return Object.keys(leftOut).length === 0 ? bounded : { ...bounded, left_out: leftOut };
}

/** How many bytes of details still fit. */
class ErrorBudget {
  constructor(private bytes: number) {}

  list(items: readonly unknown[]): unknown[] {
    const kept: unknown[] = [];
    for (const item of items) {
      const cut = cutTexts(item);
      if (kept.length === LISTED_ITEMS || !this.take(cut)) break;
      kept.push(cut);
    }
    return kept;
  }

  /** A list under each key, such as the faults of each node. */
  map(lists: Record<string, unknown>): Record<string, unknown> {
    const kept: [string, unknown][] = [];
    for (const [key, value] of Object.entries(lists)) {
      const name = beginningOf(key, TEXT_CHARACTERS);
      if (!this.take(name)) break;
      const cut = Array.isArray(value) ? this.list(value) : cutTexts(value);
      if (Array.isArray(value) ? itemsIn(cut) === 0 && value.length > 0 : !this.take(cut)) break;
      kept.push([name, cut]);
    }
    // Defines own properties: a node called `__proto__` keeps its faults.
    return Object.fromEntries(kept);
  }

  private take(value: unknown): boolean {
    const size = Buffer.byteLength(JSON.stringify(value) ?? '') + 1;
    if (size > this.bytes) this.bytes = 0;
    else this.bytes -= size;
    return this.bytes > 0;
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function itemsIn(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (!isMap(value)) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + (Array.isArray(item) ? item.length : 1), 0);
}

/** An item of a list is an object of texts and numbers. */
function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return beginningOf(value, TEXT_CHARACTERS);
  if (!isMap(value) || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, cutTexts(part)]));
}
