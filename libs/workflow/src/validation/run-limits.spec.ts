import { COMFYUI_RUN_LIMITS, type NodeCatalogue } from '@millrace/contracts';
import { realCatalogue } from '../fixtures/catalogue';
import { faultsOf, graphText, nodeText } from '../fixtures/graph';
import { limitRuns, parseWorkflow } from '../graph';
import { validateWorkflow } from './validation';

const unlimited = realCatalogue();
const limited = realCatalogue();
limitRuns(limited, COMFYUI_RUN_LIMITS);

const image = nodeText('EmptyImage', { width: 64, height: 64, batch_size: 1, color: 0 });
const save = (from: string): string => nodeText('SaveImage', { images: [from, 0], filename_prefix: 'x' });

/** Pairs of an image and what saves it. */
function pairs(count: number): [string, string][] {
  return Array.from({ length: count }, (_, at): [string, string][] => [
    [`i${at}`, image],
    [`s${at}`, save(`i${at}`)],
  ]).flat();
}

/** This many nodes in a row. */
function chain(length: number): [string, string][] {
  const inner = Array.from({ length: length - 2 }, (_, at): [string, string] => [
    String(at + 1),
    nodeText('ImageInvert', { image: [String(at), 0] }),
  ]);
  return [['0', image], ...inner, ['end', save(String(length - 2))]];
}

const messageOf = (nodes: [string, string][]): string | undefined =>
  validateWorkflow(parseWorkflow(graphText(nodes)), limited)['']?.[0]?.message;

describe('a graph for an engine that runs 300 nodes at once', () => {
  it('is refused with more, and the message names the limit and what to do', () => {
    expect(faultsOf(graphText(pairs(150)), limited)).toEqual([]);
    expect(faultsOf(graphText(pairs(151)), limited)).toEqual([['', '', 'above_max']]);
    expect(faultsOf(graphText(pairs(151)), unlimited)).toEqual([]);
    expect(messageOf(pairs(151))).toBe(
      'A run of the workflow computes 302 nodes; its engine takes at most 300 in one run. Split it into several jobs.',
    );
  });

  it('may hold more nodes that no output needs', () => {
    const spare = Array.from({ length: 400 }, (_, at): [string, string] => [`spare${at}`, image]);
    expect(faultsOf(graphText([...pairs(150), ...spare]), limited)).toEqual([]);
  });

  it('may have 300 of them in a row', () => {
    expect(faultsOf(graphText(chain(300)), limited)).toEqual([]);
    expect(faultsOf(graphText(chain(301)), limited)).toEqual([
      ['', '', 'above_max'],
      ['', '', 'above_max'],
    ]);
    expect(faultsOf(graphText(chain(301)), unlimited)).toEqual([]);
  });
});

describe('a graph for an engine that checks files before a run', () => {
  const common = { displayName: '', category: '', description: '', outputNode: true };
  const classes: NodeCatalogue = {
    Any: { ...common, inputs: {}, outputs: [{ type: '*', name: '', list: false }] },
    Text: { ...common, inputs: {}, outputs: [{ type: 'STRING', name: '', list: false }] },
    Load: { ...common, inputs: { image: { type: 'COMBO', required: true, file: 'image' } }, outputs: [] },
    Read: { ...common, inputs: { file_path: { type: 'STRING', required: true } }, outputs: [] },
    Open: { ...common, inputs: {}, outputs: [], acceptsUnknownInputs: true },
    Preview3D: { ...common, inputs: { model_file: { type: 'STRING', required: true } }, outputs: [] },
  };
  const strict = structuredClone(classes);
  limitRuns(strict, COMFYUI_RUN_LIMITS);

  it.each([
    ['Load', 'image', 'Any', true],
    ['Read', 'file_path', 'Text', true],
    ['Read', 'file_path', 'Any', true],
    ['Open', 'source.folder', 'Text', true],
    ['Open', 'source.text', 'Text', false],
    ['Preview3D', 'model_file', 'Text', false],
  ])('at %s, has a link in the place of %s from %s refused: %s', (classType, input, source, isRefused) => {
    const text = graphText({ '1': nodeText(source), '2': nodeText(classType, { [input]: ['1', 0] }) });
    expect(faultsOf(text, strict)).toEqual(isRefused ? [['2', input, 'bad_link']] : []);
    expect(faultsOf(text, classes)).toEqual([]);
  });
});
