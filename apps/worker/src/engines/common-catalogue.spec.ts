import type { InputSpec, NodeCatalogue, NodeClass } from '@millrace/contracts';
import { commonCatalogue } from './common-catalogue';

const node = (inputs: Record<string, InputSpec>): NodeClass => ({
  displayName: 'Node',
  category: 'test',
  description: '',
  inputs,
  outputs: [],
  outputNode: false,
});
const models = (...options: string[]): InputSpec => ({ type: 'COMBO', required: true, options, default: options[0] });
const size: InputSpec = { type: 'INT', required: true, min: '1', max: '64' };

describe('the catalogue of a worker with several engines', () => {
  it('is the engine’s own where there is one', () => {
    const one: NodeCatalogue = { Load: node({ model: models('a', 'b') }) };
    expect(commonCatalogue([one])).toEqual({ catalogue: one, differing: [] });
  });

  it('is theirs where they agree, in any order of their classes', () => {
    const one: NodeCatalogue = { A: node({ size }), B: node({}) };
    const other: NodeCatalogue = { B: node({}), A: node({ size: { ...size } }) };
    expect(commonCatalogue([one, other])).toEqual({ catalogue: one, differing: [] });
  });

  it('has no class that one of them lacks, first or last', () => {
    const [both, first, last] = [node({}), node({}), node({})];
    expect(
      commonCatalogue([
        { both, first },
        { both, last },
      ]),
    ).toEqual({
      catalogue: { both },
      differing: ['first', 'last'],
    });
  });

  it('offers the models that all of them have, and no default that one lacks', () => {
    const { catalogue, differing } = commonCatalogue([
      { Load: node({ model: models('a', 'b', 'c') }) },
      { Load: node({ model: models('b', 'c') }) },
      { Load: node({ model: models('c', 'b', 'd') }) },
    ]);
    expect(catalogue).toEqual({ Load: node({ model: { type: 'COMBO', required: true, options: ['b', 'c'] } }) });
    expect(differing).toEqual(['Load']);
  });

  it.each<[string, NodeClass]>([
    ['a bound', node({ size: { ...size, max: '32' } })],
    ['an input', node({ size, more: size })],
    ['an input less', node({})],
    ['what is required', node({ size: { ...size, required: false } })],
    ['the outputs', { ...node({ size }), outputs: [{ type: 'IMAGE', name: 'IMAGE', list: false }] }],
  ])('leaves out a class of which they say different things: %s', (_, other) => {
    expect(commonCatalogue([{ A: node({ size }) }, { A: other }])).toEqual({ catalogue: {}, differing: ['A'] });
  });

  it('finds a class by its own name alone', () => {
    const one = JSON.parse('{"__proto__": {"displayName": "x"}, "toString": {"displayName": "y"}}') as NodeCatalogue;
    expect(commonCatalogue([one, {}]).catalogue).toEqual({});
  });
});
