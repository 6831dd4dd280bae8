import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseWorkflow } from '@millrace/workflow';
import { readObjectInfo } from './object-info';
import { GraphRefusal } from './graph-refusal';
import type { GraphToSanitise } from './node-sanitiser';
import { sanitiseGraph, type SanitisedGraph } from './sanitise-graph';

const catalogue = readObjectInfo(readFileSync(join(__dirname, '../../../fixtures/object_info.json'), 'utf8'), [
  'OpenNode',
]);
catalogue['OpenNode'] = {
  displayName: 'Open',
  category: '',
  description: '',
  inputs: {},
  outputs: [{ type: 'IMAGE', name: 'IMAGE', list: false }],
  outputNode: false,
  acceptsUnknownInputs: true,
};

const RUN = '6eed1942-df72-4c7c-a23f-6586fd434680';

const EMPTY = '{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":0}}';
const SAVE = '{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}';

function sanitise(workflow: string, changes: Partial<GraphToSanitise> = {}): SanitisedGraph {
  return sanitiseGraph({
    graph: parseWorkflow(workflow),
    catalogue,
    runId: RUN,
    cacheScope: 'scope',
    staged: new Map(),
    reportingClasses: new Set(),
    limits: { maxNodes: 300, maxDepth: 300 },
    ...changes,
  });
}

type Posted = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

function posted(workflow: string, changes: Partial<GraphToSanitise> = {}): Posted {
  return JSON.parse(sanitise(workflow, changes).text) as Posted;
}

function refusal(workflow: string, changes: Partial<GraphToSanitise> = {}): GraphRefusal['failure'] {
  try {
    sanitise(workflow, changes);
  } catch (error) {
    if (error instanceof GraphRefusal) return error.failure;
    throw error;
  }
  throw new Error('The graph was not refused.');
}

describe('a sanitised graph', () => {
  it('keeps every literal as it was written', () => {
    const literals = '"seed":18446744073709551615,"steps":20,"cfg":8.0,"denoise":1e0';
    const graph = `{"3":{"class_type":"KSampler","inputs":{${literals},"sampler_name":"eul\\u0065r"}},
      "4":{"class_type":"SaveLatent","inputs":{"samples":["3",0]}}}`;
    expect(sanitise(graph).text).toContain(`{${literals},"sampler_name":"eul\\u0065r"`);
  });

  it('keeps any JSON value of any input as it was written', () => {
    fc.assert(
      fc.property(fc.json(), (value) => {
        const isLinkLike = /^\s*\[/.test(value) || value.includes('__value__');
        fc.pre(!isLinkLike);
        const graph = `{"1":{"class_type":"OpenNode","inputs":{"any":${value}}},"2":${SAVE}}`;
        expect(sanitise(graph).text).toContain(`"any":${value.trim()}`);
      }),
    );
  });

  it('holds only what an output needs, and only inputs that its class declares', () => {
    const graph = `{"1":{"class_type":"EmptyImage","_meta":{"title":"x"},"is_changed":1,
        "inputs":{"width":8,"height":8,"batch_size":1,"color":0,"zz":["77",0],"zy":["2",0]}},
      "2":${SAVE}, "3":${EMPTY}, "4":{"class_type":"EmptyImage"}, "5":{"class_type":"EmptyImage","inputs":null}}`;
    const nodes = posted(graph);
    expect(Object.keys(nodes)).toEqual(['1', '2']);
    expect(Object.keys(nodes['1'] ?? {})).toEqual(['class_type', 'inputs']);
    expect(Object.keys(nodes['1']?.inputs ?? {})).toEqual(['width', 'height', 'batch_size', 'color', 'millrace_salt']);
  });

  it('keeps inputs that are not declared where the class makes them up, links among them checked', () => {
    const open = (inputs: string): string => `{"1":${EMPTY},"3":{"class_type":"OpenNode","inputs":${inputs}},
      "2":{"class_type":"SaveImage","inputs":{"images":["3",0]}}}`;
    expect(posted(open('{"a":["1",0],"b":5}'))['3']?.inputs).toEqual({ a: ['1', 0], b: 5 });
    expect(refusal(open('{"a":["77",0]}'))).toMatchObject({
      nodeId: '3',
      message: expect.stringMatching(/not in the workflow/) as unknown,
    });
  });

  it('has the last of two inputs of one name, as Python reads it', () => {
    const graph = `{"1":{"class_type":"EmptyImage","inputs":{"width":1,"width":2}},"2":${SAVE}}`;
    expect(sanitise(graph).text.match(/"width":\d/g)).toEqual(['"width":2']);
  });
});

describe('a graph that can not run is refused before it reaches ComfyUI', () => {
  it.each([
    [
      'a link to a missing node',
      '{"2":{"class_type":"SaveImage","inputs":{"images":["9",0]}}}',
      '2',
      /node 9, which is not in/,
    ],
    [
      'an output that does not exist',
      `{"1":${EMPTY},"2":{"class_type":"SaveImage","inputs":{"images":["1",1]}}}`,
      '2',
      /which has 1/,
    ],
    ['an unknown class', `{"1":{"class_type":"NoSuch","inputs":{}},"2":${SAVE}}`, '1', /No node class "NoSuch"/],
    [
      'an unknown class that no known output needs',
      `{"1":${EMPTY},"2":${SAVE},"3":{"class_type":"NoSuch","inputs":{"images":["1",0]}}}`,
      '3',
      /No node class "NoSuch"/,
    ],
    ['no output', `{"1":${EMPTY}}`, null, /no output node/],
    ['nothing', '{}', null, /no output node/],
    [
      'a cycle',
      `{"1":{"class_type":"ImageInvert","inputs":{"image":["3",0]}},"3":{"class_type":"ImageInvert","inputs":{"image":["1",0]}},"2":${SAVE}}`,
      null,
      /cycle/,
    ],
    ['a negative slot', '{"1":{"class_type":"SaveImage","inputs":{"images":["1",-1]}}}', '1', /form of a link/],
    [
      'a slot that is no whole number',
      '{"1":{"class_type":"SaveImage","inputs":{"images":["1",0.5]}}}',
      '1',
      /form of a link/,
    ],
    [
      'a slot that Python counts',
      '{"1":{"class_type":"SaveImage","inputs":{"images":["77",true]}}}',
      '1',
      /form of a link/,
    ],
    [
      'a link in disguise',
      '{"1":{"class_type":"SaveImage","inputs":{"images":{"__value__":["77",0]}}}}',
      '1',
      /form of a link/,
    ],
  ])('%s', (_name, graph, nodeId, message) => {
    expect(refusal(graph)).toMatchObject({ nodeId, message: expect.stringMatching(message) as unknown });
  });

  it('as the fault of the graph where a node is at fault, but not where a class has gone since it was submitted', () => {
    expect(refusal('{"2":{"class_type":"SaveImage","inputs":{"images":["9",0]}}}').code).toBe('node_execution_error');
    expect(refusal(`{"1":{"class_type":"NoSuch","inputs":{}},"2":${SAVE}}`).code).toBe('engine_error');
    expect(refusal('{}').code).toBe('engine_error');
  });

  it('too many nodes, or too long a chain', () => {
    const chain = (length: number): string => {
      const inner = Array.from({ length: length - 2 }, (_, at) => {
        return `"n${at}":{"class_type":"ImageInvert","inputs":{"image":["${at === 0 ? 1 : `n${at - 1}`}",0]}}`;
      });
      return `{"1":${EMPTY},${inner.join()},"2":{"class_type":"SaveImage","inputs":{"images":["n${length - 3}",0]}}}`;
    };
    expect(Object.keys(posted(chain(50), { limits: { maxNodes: 50, maxDepth: 50 } }))).toHaveLength(50);
    expect(refusal(chain(51), { limits: { maxNodes: 50, maxDepth: 90 } }).message).toMatch(
      /needs 51 nodes, and at most 50/,
    );
    expect(refusal(chain(51), { limits: { maxNodes: 90, maxDepth: 50 } }).message).toMatch(/more than 50 nodes/);
  });
});

describe('files', () => {
  const load = (image: string): string => `{"1":{"class_type":"LoadImage","inputs":{"image":${image}}},"2":${SAVE}}`;
  const staged = new Map([['cat.png', `millrace/${RUN}/1.png`]]);

  it('of the run get the name they have on the server', () => {
    expect(posted(load('"cat.png"'), { staged })['1']?.inputs).toMatchObject({ image: `millrace/${RUN}/1.png` });
  });

  it('of the run do so at any depth and for any input', () => {
    const graph = `{"1":{"class_type":"OpenNode","inputs":{"list":[{"a":"cat.png","n":1.50},"cat.png"]}},"2":${SAVE}}`;
    const name = `millrace/${RUN}/1.png`;
    expect(sanitise(graph, { staged }).text).toContain(`"list":{"__value__":[{"a":"${name}","n":1.50},"${name}"]}`);
  });

  it.each([
    '"dog.png"',
    '"/etc/passwd"',
    '"../output/x.png"',
    '"a.png [output]"',
    '["cat.png","dog.png"]',
    '{"a":"x"}',
  ])('that did not come with the run are refused: %s', (image) => {
    expect(refusal(load(image), { staged })).toMatchObject({
      code: 'input_unavailable',
      nodeId: '1',
      classType: 'LoadImage',
    });
  });

  it('are never named by a link', () => {
    expect(refusal(`{"0":{"class_type":"OpenNode","inputs":{}},${load('["0",0]').slice(1)}`, { staged })).toMatchObject(
      { nodeId: '1' },
    );
  });

  it.each(['/etc/passwd', '..\\\\x', 'a/../../b', 'C:/x', '~/x', 'x.ckpt [input]'])(
    'are not reached by the path %s',
    (path) => {
      const preview = `{"1":{"class_type":"Preview3D","inputs":{"model_file":"${path}"}}}`;
      const combo = `{"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"${path}"}},
      "2":{"class_type":"VAESave","inputs":{"vae":["1",2]}}}`;
      for (const graph of [preview, combo])
        expect(refusal(graph)).toMatchObject({ code: 'node_execution_error', nodeId: '1' });
    },
  );

  it.each(['millrace', `millrace/${RUN}`, './millrace//x', 'Millrace\\\\x'])(
    'of other runs are not reached by their folder, which later versions list: %s',
    (folder) => {
      const options = ['3d', 'millrace', `millrace/${RUN}`];
      const inputs = { folder: { type: 'COMBO', required: true, options } };
      const listing = { ...catalogue, FolderNode: { ...catalogue['OpenNode'], inputs } } as typeof catalogue;
      const reading = (given: string): string => `{"1":{"class_type":"FolderNode","inputs":{${given}}},"2":${SAVE}}`;
      const refused = { code: 'node_execution_error', nodeId: '1' };
      expect(refusal(reading(`"folder":"${folder}"`), { catalogue: listing })).toMatchObject(refused);
      expect(refusal(reading(`"source":"path","source.folder":"${folder}"`), { catalogue: listing })).toMatchObject(
        refused,
      );
      expect(posted(reading('"folder":"3d"'), { catalogue: listing })['1']?.inputs).toMatchObject({ folder: '3d' });
    },
  );

  it('are not reached by a folder of a list that another node names', () => {
    const inputs = { folder: { type: 'COMBO', required: true, options: ['3d'] } };
    const listing = { ...catalogue, FolderNode: { ...catalogue['OpenNode'], inputs } } as typeof catalogue;
    const join = '{"class_type":"StringConcatenate","inputs":{"string_a":"mill","string_b":"race","delimiter":""}}';
    const graph = `{"0":${join},"1":{"class_type":"FolderNode","inputs":{"folder":["0",0]}},"2":${SAVE}}`;
    expect(refusal(graph, { catalogue: listing })).toMatchObject({ nodeId: '1' });
  });

  it('are not reached by a path that other nodes put together', () => {
    const join = '{"class_type":"StringConcatenate","inputs":{"string_a":"/etc","string_b":"passwd","delimiter":"/"}}';
    const graph = `{"0":${join},"1":{"class_type":"OpenNode","inputs":{"video_path":["0",0]}},"2":${SAVE}}`;
    expect(refusal(graph)).toMatchObject({ nodeId: '1', message: expect.stringContaining('video_path') as unknown });
    const picture = `{"0":${EMPTY},"1":{"class_type":"OpenNode","inputs":{"file":["0",0],"text":["0",0]}},"2":${SAVE}}`;
    expect(Object.keys(posted(picture))).toEqual(['0', '1', '2']);
    const shown = `{"0":${join},"1":{"class_type":"Preview3D","inputs":{"model_file":["0",0]}}}`;
    expect(Object.keys(posted(shown))).toEqual(['0', '1']);
  });

  it('of models may lie in folders', () => {
    const graph = `{"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"sdxl/base.safetensors"}},
      "2":{"class_type":"VAESave","inputs":{"vae":["1",2]}}}`;
    expect(sanitise(graph).models.get('1')).toEqual(['sdxl/base.safetensors']);
  });

  it('may be mentioned in a text', () => {
    const graph = `{"1":{"class_type":"StringConcatenate","inputs":{"string_a":"/etc/passwd","string_b":"..","delimiter":"/"}},
      "2":{"class_type":"PreviewAny","inputs":{"source":["1",0]}}}`;
    expect(posted(graph)['1']?.inputs).toMatchObject({ string_a: '/etc/passwd' });
  });
});

describe('what is saved', () => {
  const saving = (prefix: string): unknown =>
    posted(`{"1":${EMPTY},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":${prefix}}}}`)['2']
      ?.inputs['filename_prefix'];

  it.each([
    ['"cat"', 'cat'],
    ['"a/b/cat %width%"', 'cat %width%'],
    ['"../../etc/cat"', 'cat'],
    ['"/cat/"', 'cat'],
    ['"..\\\\cat"', 'cat'],
    ['".."', 'ComfyUI'],
    ['""', 'ComfyUI'],
    ['"a:b*c"', 'a_b_c'],
    ['5', 'ComfyUI'],
    ['["1",0]', 'ComfyUI'],
  ])('under %s goes to a folder of the run and node, as %s', (prefix, base) => {
    expect(saving(prefix)).toBe(`millrace/${RUN}/2/${base}`);
  });

  it('goes there though the graph names no prefix, or a node has another name for it', () => {
    const graph = `{"1":${EMPTY},"2":{"class_type":"SaveImage","inputs":{"images":["1",0]}},
      "3":{"class_type":"TrainLoraNode","inputs":{}},"4":{"class_type":"SaveLoRANode","inputs":{"lora":["3",1],"prefix":"loras/mine"}}}`;
    expect(posted(graph)['2']?.inputs['filename_prefix']).toBe(`millrace/${RUN}/2/ComfyUI`);
    expect(posted(graph)['4']?.inputs['prefix']).toBe(`millrace/${RUN}/4/mine`);
    expect(sanitise(graph).saveFolders).toEqual(
      new Map([
        [`millrace/${RUN}/2`, '2'],
        [`millrace/${RUN}/4`, '4'],
      ]),
    );
  });

  it('goes to no folder where the node makes none', () => {
    const graph =
      '{"1":{"class_type":"TrainLoraNode","inputs":{}},"2":{"class_type":"LossGraphNode","inputs":{"loss":["1",2]}}}';
    expect(posted(graph)['2']?.inputs['filename_prefix']).toBe(`millrace_${RUN}_2_ComfyUI`);
  });

  it('is a picture of the run’s own where the graph only previews', () => {
    const graph = `{"1":${EMPTY},"2":{"class_type":"PreviewImage","inputs":{"images":["1",0]}}}`;
    expect(posted(graph)['2']).toEqual({
      class_type: 'SaveImage',
      inputs: { images: ['1', 0], filename_prefix: `millrace/${RUN}/2/ComfyUI` },
    });
    expect(sanitise(graph).classes.get('2')).toBe('PreviewImage');
  });
});

describe('the cache', () => {
  const CHECKPOINT = '{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.safetensors"}}';
  const LORA = '{"class_type":"LoraLoader","inputs":{"model":["0",0],"clip":["0",1],"lora_name":"b.safetensors"}}';
  const encode = (text: string): string => `{"class_type":"CLIPTextEncode","inputs":{"text":"${text}","clip":["9",1]}}`;
  const graph = `{"0":${CHECKPOINT},"9":${LORA},"5":${encode('a cat')},"6":{"class_type":"ConditioningZeroOut","inputs":{"conditioning":["5",0]}},
    "7":{"class_type":"PreviewAny","inputs":{"source":["6",0]}}}`;
  const salts = (changes: Partial<GraphToSanitise> = {}): Record<string, unknown> =>
    Object.fromEntries(Object.entries(posted(graph, changes)).map(([id, { inputs }]) => [id, inputs['millrace_salt']]));

  it('is divided by scope where a result begins, shared for models, and passed over by what reports', () => {
    const mine = salts();
    expect(mine).toEqual({
      '0': undefined,
      '9': undefined,
      '5': expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
      '6': undefined,
      '7': `${RUN} 7`,
    });
    expect(salts({ cacheScope: 'another' })['5']).not.toBe(mine['5']);
    expect(salts({ runId: '00000000-0000-4000-8000-000000000000' })['5']).toBe(mine['5']);
  });

  it('is passed over by classes that were seen to report', () => {
    expect(salts({ reportingClasses: new Set(['CLIPTextEncode']) })['5']).toBe(`${RUN} 5`);
  });

  it('does not see a salt that somebody submits', () => {
    const forged = `{"1":{"class_type":"OpenNode","inputs":{"millrace_salt":"mine"}},"2":${SAVE}}`;
    expect(posted(forged)['1']?.inputs['millrace_salt']).not.toBe('mine');
  });
});
