import type { NodeCatalogue } from '@millrace/contracts';
import { WARM_UP_BYTES, warmUpText } from './warm-up';

const catalogue: NodeCatalogue = {
  Make: {
    displayName: 'Make',
    category: '',
    description: '',
    inputs: {},
    outputs: [{ name: 'IMAGE', type: 'IMAGE', list: false }],
    outputNode: false,
  },
  Show: { displayName: 'Show', category: '', description: '', inputs: {}, outputs: [], outputNode: true },
};
const graph = { '1': { class_type: 'Show', inputs: {} } };
const refusal = (given: Record<string, unknown>, known: NodeCatalogue | null = null): unknown => {
  try {
    return warmUpText(JSON.stringify(given), known);
  } catch (error) {
    return error;
  }
};

describe('a warm-up graph', () => {
  it('is stored as it was given, where workers can run it and where nobody knows yet', () => {
    const text = ' {"1": {"inputs": {"seed": 18446744073709551615, "cfg": 7.0}, "class_type": "Show"}}';
    expect(warmUpText(text, null)).toBe(text);
    expect(warmUpText(JSON.stringify(graph), catalogue)).toBe(JSON.stringify(graph));
  });

  it('is refused with the node and what is wrong with it, as a submission is', () => {
    expect(refusal({ '1': { class_type: 'Shew', inputs: {} } }, catalogue)).toMatchObject({
      code: 'invalid_workflow',
      message: expect.stringContaining('warm_up cannot be run. Node 1:') as string,
      details: { node_errors: { '1': [{ reason: 'unknown_node_class' }] } },
    });
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['the format of the editor', { nodes: [], links: [] }, 'workflow_format_ui', 'API format'],
    ['no node at all', {}, 'invalid_request', 'at least one'],
    ['what is no node', { '1': { class_type: 'Show' } }, 'invalid_request', 'class_type and inputs'],
    [
      'an asset, which belongs to a job',
      {
        '1': {
          class_type: 'Show',
          inputs: { image: { __type: 'core/ASSET', info: { id: '019300aa-0000-7000-8000-000000000001' } } },
        },
      },
      'invalid_request',
      'node 1 refers to an asset',
    ],
    [
      'more than a warm-up needs',
      { '1': { class_type: 'Show', inputs: { text: 'x'.repeat(WARM_UP_BYTES) } } },
      'invalid_request',
      'bytes of JSON',
    ],
  ])('is refused in %s', (_what, given, code, words) => {
    expect(refusal(given)).toMatchObject({ code, message: expect.stringContaining(words) as string });
  });
});
