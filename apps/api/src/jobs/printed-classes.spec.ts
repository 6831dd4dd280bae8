import { setImmediate } from 'node:timers/promises';
import { PrintedNodeClasses } from './printed-classes';
import type { ShownClasses } from './shown-classes';

/** As many classes as fill some hundred kilobytes. */
const NAMES = Array.from({ length: 400 }, (_, at) => `Class "${at}" ä`);

/** Classes that count how often one of them is presented. */
function shownAs(etag: string): { shown: ShownClasses; presented: () => number } {
  let presented = 0;
  const present = (name: string): never => {
    presented += 1;
    return { display_name: name, description: 'd'.repeat(500) } as never;
  };
  const catalogue = Object.fromEntries(NAMES.map((name) => [name, {}])) as never;
  return { shown: { catalogue, etag, present }, presented: () => presented };
}

describe('the printed list of node classes', () => {
  it('has every class, as an answer in JSON', async () => {
    const { shown } = shownAs('a');
    const printed = JSON.parse((await new PrintedNodeClasses().of('account', shown)).toString()) as object;
    const classes = NAMES.map((name) => [name, shown.present(name)]);
    expect(printed).toEqual({ node_classes: Object.fromEntries(classes) as object });
    const none = await new PrintedNodeClasses().of('account', { ...shown, catalogue: {} });
    expect(none.toString()).toBe('{"node_classes":{}}');
  });

  it('has a class as JSON has it, and leaves the event loop to others in the middle of it', async () => {
    const options = Array.from({ length: 100_000 }, (_, at) => `model "${at}"`);
    const model = { type: 'COMBO', required: true, options, tooltip: undefined, default: { a: [{}, [], null, 1.5] } };
    const view = {
      inputs: { model, seed: { type: 'INT', required: false } },
      outputs: [],
      acceptsUnknownInputs: undefined,
    };
    const shown = { catalogue: { A: {} }, etag: 'a', present: () => view } as never;
    let turns = 0;
    let isDone = false;
    const printing = new PrintedNodeClasses().of('account', shown).finally(() => (isDone = true));
    for (; !isDone; turns += 1) await setImmediate();
    expect((await printing).toString()).toBe(JSON.stringify({ node_classes: { A: view } }));
    expect(turns).toBeGreaterThan(10);
  });

  it('is printed once for all who are shown the same', async () => {
    const { shown, presented } = shownAs('a');
    const lists = new PrintedNodeClasses();
    const [first, ...others] = await Promise.all(['a', 'a', 'a'].map((account) => lists.of(account, shown)));
    expect(presented()).toBe(NAMES.length);
    const another = await lists.of('b', shown);
    expect([...others, another].every((bytes) => bytes === first)).toBe(true);
    expect(presented()).toBe(NAMES.length);
  });

  it('is printed again where something else is shown', async () => {
    const lists = new PrintedNodeClasses();
    const other = shownAs('b');
    await lists.of('a', shownAs('a').shown);
    await lists.of('a', other.shown);
    expect(other.presented()).toBe(NAMES.length);
  });
});
