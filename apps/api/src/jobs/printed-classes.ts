import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { BoundedBytes, Turns } from '@millrace/platform';
import type { ShownClasses } from './shown-classes';

/** One answer has about a megabyte for a thousand classes. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** Of one account: printing a megabyte takes some 50 ms of a core. */
const PRINTED_AT_A_TIME = 1;
/** Items of a list that are printed at once: models have long names. */
const ITEMS_AT_ONCE = 500;
/** What is printed before other work has its turn: about a millisecond. */
const STRETCH_CHARACTERS = 32_768;

/**
 * The answers that list node classes, as bytes: printed once for all who are shown the same, which their ETag names.
 */
@Injectable()
export class PrintedNodeClasses {
  private readonly kept = new BoundedBytes(KEPT_BYTES);
  private readonly turns = new Turns(PRINTED_AT_A_TIME, 'lists of node classes', { whose: 'caller' });

  /**
   * The answer: what is kept, or else printed in a turn of who asks.
   *
   * @param payer whose turn it is; see `RequestContext`.
   * @throws Refusal `rate_limited` when too many wait.
   */
  async of(payer: string, shown: ShownClasses): Promise<Buffer> {
    return (
      this.kept.get(shown.etag) ?? this.turns.run(payer, async () => this.kept.get(shown.etag) ?? this.print(shown))
    );
  }

  private async print({ catalogue, etag, present }: ShownClasses): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let stretch = '{"node_classes":{';
    for (const [at, name] of Object.keys(catalogue).entries()) {
      stretch += `${at === 0 ? '' : ','}${JSON.stringify(name)}:`;
      for (const piece of printed(present(name))) {
        stretch += piece;
        if (stretch.length < STRETCH_CHARACTERS) continue;
        pieces.push(Buffer.from(stretch));
        stretch = '';
        await setImmediate();
      }
    }
    const bytes = Buffer.concat([...pieces, Buffer.from(`${stretch}}}`)]);
    this.kept.set(etag, bytes);
    return bytes;
  }
}

/** What `JSON.stringify` makes of a value, in pieces: of the inputs of one class, a few have thousands of models. */
function* printed(value: unknown): Generator<string> {
  if (Array.isArray(value) && value.length > ITEMS_AT_ONCE) {
    for (let at = 0; at < value.length; at += ITEMS_AT_ONCE) {
      const items = JSON.stringify(value.slice(at, at + ITEMS_AT_ONCE));
      yield `${at === 0 ? '[' : ','}${items.slice(1, -1)}`;
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    let before = '{';
    for (const [key, inner] of Object.entries(value)) {
      if (inner === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* printed(inner);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else yield JSON.stringify(value);
}
