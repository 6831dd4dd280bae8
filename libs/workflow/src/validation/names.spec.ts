import { realCatalogue } from '../fixtures/catalogue';
import { faultsOf, graphText, nodeText } from '../fixtures/graph';
import { parseWorkflow } from '../graph/workflow';
import { validateWorkflow } from './validation';

const real = realCatalogue();
const image = (inputs: Record<string, unknown> = {}): string =>
  nodeText('EmptyImage', { width: 64, height: 64, batch_size: 1, color: 0, ...inputs });
const save = (from: [string, number]): string => nodeText('SaveImage', { images: from, filename_prefix: 'x' });

describe('the names in a graph', () => {
  const long = 'n'.repeat(5_300);

  it('have at most 256 characters, those of nodes, inputs and classes alike', () => {
    const cut = `${'n'.repeat(60)}…`;
    expect(faultsOf(graphText({ [long]: nodeText('SaveImage') }), real)).toEqual([[cut, '', 'above_max']]);
    expect(faultsOf(graphText({ '1': nodeText(long) }), real)).toEqual([['1', 'class_type', 'above_max']]);
    expect(faultsOf(graphText({ '1': nodeText('SaveImage', { [long]: 1 }) }), real)).toEqual([['1', cut, 'above_max']]);
    const id = 'n'.repeat(256);
    expect(faultsOf(graphText({ [id]: image({ [id]: 1 }), '2': save([id, 0]) }), real)).toEqual([]);
  });

  it('that are too long are named with the limit and the cure', () => {
    expect(Object.values(validateWorkflow(parseWorkflow(graphText({ [long]: '{}' })), real))[0]?.[0]?.message).toBe(
      'The id of the node has 5300 characters; at most 256 are accepted. Use a shorter one.',
    );
  });

  it('that are too long in every node are all reported, up to the limit of faults', () => {
    const nodes = Array.from({ length: 3_000 }, (_, at): [string, string] => [`${at}${long}`, nodeText('A')]);
    expect(faultsOf(graphText(nodes), real)).toHaveLength(1_000);
  });

  it.each(['\0', '\ud800'])('that PostgreSQL cannot keep are invalid_type as ids of nodes: %j', (character) => {
    expect(faultsOf(graphText({ [`a${character}`]: image(), '2': save([`a${character}`, 0]) }), real)).toEqual([
      [`a${character}`, '', 'invalid_type'],
    ]);
  });
});
