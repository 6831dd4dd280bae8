import { z } from 'zod';
import { NodeCatalogueSchema, type NodeCatalogue } from '../node-catalogue';
import { listToFirstFault, recordToFirstFault } from './first-fault';
import { GatewayCatalogueSchema, GatewayClaimSchema } from './gateway';

const catalogue: NodeCatalogue = {
  Load: {
    displayName: 'Load',
    category: 'loaders',
    description: '',
    inputs: {
      name: { type: 'COMBO', required: true, options: ['a', 1, true], default: 'a', libraryModels: true },
      seed: { type: 'INT', required: false, min: '0', max: '18446744073709551615' },
    },
    outputs: [{ type: 'MODEL', name: 'model', list: false }],
    outputNode: false,
    deterministic: true,
  },
  None: { displayName: '', category: '', description: '', inputs: {}, outputs: [], outputNode: true },
};

/** The paths of the faults that a schema finds. */
function faultsOf(schema: z.ZodType, value: unknown): string[] {
  return schema.safeParse(value).error?.issues.map(({ path }) => path.join('.')) ?? [];
}

describe('a list or record that is checked to its first fault', () => {
  const list = listToFirstFault(z.object({ a: z.string(), b: z.string() }), 3);
  const record = recordToFirstFault(z.string());

  it('has its items as their schema has them', () => {
    expect(list.parse([{ a: '1', b: '2', c: 3 }])).toEqual([{ a: '1', b: '2' }]);
    expect(record.parse({ one: '1', two: '2' })).toEqual({ one: '1', two: '2' });
  });

  it('names the faults of the first item that does not fit, by their place', () => {
    const good = { a: '', b: '' };
    expect(faultsOf(list, [good, {}, {}])).toEqual(['1.a', '1.b']);
    expect(faultsOf(record, { one: '1', two: 2, three: 3 })).toEqual(['two']);
    expect(faultsOf(z.object({ of: record.optional() }), { of: { one: 1 } })).toEqual(['of.one']);
  });

  it('is one', () => {
    for (const value of [undefined, null, 'text', 1, {}]) expect(faultsOf(list, value)).toEqual(['']);
    for (const value of [undefined, null, 'text', 1, []]) expect(faultsOf(record, value)).toEqual(['']);
    expect(faultsOf(list, Array(4).fill({ a: '', b: '' }))).toEqual(['']);
  });

  it('takes a key that every object has for one of its own', () => {
    const parsed = record.parse(JSON.parse('{"__proto__":"a","toString":"b"}'));
    expect(Object.entries(parsed)).toEqual([
      ['__proto__', 'a'],
      ['toString', 'b'],
    ]);
  });
});

describe('a catalogue that a worker sends', () => {
  it('is read as those that are stored, to the byte', () => {
    const sent = JSON.parse(JSON.stringify({ engine: 'cpu', catalogue, more: 1 })) as unknown;
    const read = GatewayCatalogueSchema.parse(sent).catalogue;
    expect(JSON.stringify(read)).toBe(JSON.stringify(NodeCatalogueSchema.parse(catalogue)));
    expect(read).toEqual(catalogue);
  });

  it.each([
    ['classes', { A: 0, B: 0 }, ['catalogue.A']],
    ['inputs', { A: { ...catalogue.None, inputs: { x: 0, y: 0 } } }, ['catalogue.A.inputs.x']],
    [
      'options',
      { A: { ...catalogue.None, inputs: { x: { type: 'COMBO', required: true, options: ['a', {}, {}] } } } },
      ['catalogue.A.inputs.x.options.1'],
    ],
    ['outputs', { A: { ...catalogue.None, outputs: [0, 0] } }, ['catalogue.A.outputs.0']],
  ])('is refused by the first of many %s that are wrong', (_what, wrong, paths) => {
    expect(faultsOf(GatewayCatalogueSchema, { engine: 'cpu', catalogue: wrong })).toEqual(paths);
  });
});

describe('a class that a worker sends', () => {
  it('has no more inputs and outputs than anything can show', () => {
    const many = Array.from({ length: 2_001 }, (_, at) => at);
    const inputs = Object.fromEntries(many.map((at) => [`in${at}`, { type: 'INT', required: true }]));
    const outputs = many.map((at) => ({ type: 'INT', name: `out${at}`, list: false }));
    for (const [place, ports] of Object.entries({ inputs, outputs })) {
      const wrong = { A: { ...catalogue.None, [place]: ports } };
      expect(faultsOf(GatewayCatalogueSchema, { engine: 'cpu', catalogue: wrong })).toEqual([`catalogue.A.${place}`]);
    }
  });
});

describe('a claim that a worker sends', () => {
  it('is refused by the first of many names that are none', () => {
    const message = { jobId: '01890a5d-ac96-774b-bcce-b302099a8057', attempt: 1 };
    expect(faultsOf(GatewayClaimSchema, { message, warm: [0, 0] })).toEqual(['warm.0']);
    expect(faultsOf(GatewayClaimSchema, { message: { ...message, models: [0, 0] }, warm: [] })).toEqual([
      'message.models.0',
    ]);
    expect(faultsOf(GatewayClaimSchema, { message, warm: [] })).toEqual([]);
  });
});
