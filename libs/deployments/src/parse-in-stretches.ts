import { setImmediate } from 'node:timers/promises';

/** What `JSON.parse` is given at once, in UTF-16 units: it takes about a millisecond. */
const STRETCH = 65_536;
/** Units between two looks at the clock. */
const LOOK_EVERY = 16_384;
/** How long the event loop is kept before other work has its turn. */
const TURN_MS = 5;

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A list or an object that has begun and not ended. */
interface Open {
  isList: boolean;
  /** Where its member began that is being read: with its key. */
  memberAt: number;
  /** The key of that member, with its quotes. */
  key: [from: number, to: number];
  /** Where the members begin that are not in `made` yet. */
  from: number;
  /** Null while all of it is short enough to be parsed as a part of what it is in. */
  made: unknown[] | Record<string, unknown> | null;
}

/**
 * What `JSON.parse` makes of a text, a piece at a time: between two of them the event loop serves others, however large the text is, or one
 * list in it. A short text is parsed at once.
 *
 * @param text JSON as `JSON.stringify` writes it, without spaces. @throws SyntaxError for what is no JSON.
 */
export async function parseInStretches(text: string): Promise<unknown> {
  if (text.length <= STRETCH) return JSON.parse(text);
  const open: Open[] = [];
  let turnEndsAt = performance.now() + TURN_MS;
  let looksAt = LOOK_EVERY;
  let quoted: [number, number] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    const inner = open.at(-1);
    if (character === QUOTE) {
      const end = endOfString(text, at);
      quoted = [at, end];
      at = end - 1;
    } else if (character === LIST || character === OBJECT) {
      open.push({ isList: character === LIST, memberAt: at + 1, key: [0, 0], from: at + 1, made: null });
    } else if (inner === undefined) {
      continue;
    } else if (character === COLON) {
      inner.key = quoted;
    } else if (character === COMMA) {
      if (at - inner.from >= STRETCH) take(inner, text, at);
      inner.memberAt = at + 1;
    } else if (character === LIST_END || character === OBJECT_END) {
      open.pop();
      if (inner.made === null && at - inner.from < STRETCH) continue;
      take(inner, text, at);
      const outer = open.at(-1);
      if (outer === undefined) return inner.made;
      take(outer, text, outer.memberAt);
      put(outer, outer.isList ? '' : (JSON.parse(text.slice(...outer.key)) as string), inner.made);
      outer.from = at + 1;
    } else continue;
    if (at < looksAt) continue;
    looksAt = at + LOOK_EVERY;
    if (performance.now() < turnEndsAt) continue;
    await setImmediate();
    turnEndsAt = performance.now() + TURN_MS;
  }
  return JSON.parse(text);
}

/** Where a string ends that begins at `from`: behind its quote. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return text.length;
}

/** Parse the members before `to` that are not made yet. */
function take(container: Open, text: string, to: number): void {
  const { isList, from } = container;
  container.made ??= isList ? [] : {};
  container.from = to;
  const members = text.slice(from, to).replace(/^,|,$/g, '');
  if (members === '') return;
  const part = JSON.parse(isList ? `[${members}]` : `{${members}}`) as Record<string, unknown>;
  for (const key of Object.keys(part)) put(container, key, part[key]);
}

/** `__proto__` is a key like any other, as it is to `JSON.parse`. */
function put({ made }: Open, key: string, value: unknown): void {
  if (Array.isArray(made)) made.push(value);
  else if (made !== null)
    Object.defineProperty(made, key, { value, writable: true, enumerable: true, configurable: true });
}
