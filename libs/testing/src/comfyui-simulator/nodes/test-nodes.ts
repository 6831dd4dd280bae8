import { Blocker, NodeRaised, ProcessAbort, SystemExit, type NodeClass, type Pictures } from './node-class';
import { RawJson } from '../io/python-json';
import { PREVIEW_JPEG } from './picture';

const SALT = '["INT", {"default": 0, "min": 0, "max": 18446744073709551615}]';
const STEPS = '["INT", {"default": 3, "min": 0, "max": 100000}]';
const SECONDS = '["FLOAT", {"default": 0.05, "min": 0.0, "max": 3600.0}]';
const TEXT = '["STRING", {"default": "", "multiline": true}]';
const FLAG = '["BOOLEAN", {"default": false}]';
const IMAGE = '["IMAGE"]';

/** Exceptions of PyTorch's: what it raises where a GPU has no memory left, or takes no more work. */
const OF_TORCH = new Set(['OutOfMemoryError', 'AcceleratorError']);

const GREY: Pictures = { width: 16, height: 16, colour: 0x808080, count: 1 };

/** Nodes that misbehave on demand. `test-nodes/` holds the same for a real ComfyUI. */
export const TEST_NODES: Readonly<Record<string, NodeClass>> = {
  TestSteps: {
    required: { steps: STEPS, seconds_per_step: SECONDS, salt: SALT },
    optional: { image: IMAGE },
    outputs: ['IMAGE'],
    run: async (call) => {
      const steps = Number(call.inputs['steps']);
      for (let step = 1; step <= steps; step += 1) {
        await call.pause(Number(call.inputs['seconds_per_step']));
        await call.progress(step, steps);
      }
      return { values: [call.inputs['image'] ?? GREY] };
    },
  },
  TestPreview: {
    required: {
      steps: STEPS,
      seconds_per_step: SECONDS,
      format: '[["JPEG", "PNG"]]',
      size: '["INT", {"default": 96}]',
      salt: SALT,
    },
    outputs: ['IMAGE'],
    run: async (call) => {
      const steps = Number(call.inputs['steps']);
      for (let step = 1; step <= steps; step += 1)
        await call.progress(step, steps, { format: 'JPEG', bytes: PREVIEW_JPEG });
      return { values: [GREY] };
    },
  },
  TestFail: {
    required: {
      message: TEXT,
      after_steps: STEPS,
      kind: '[["RuntimeError", "ValueError", "SystemExit", "OutOfMemoryError", "AcceleratorError"]]',
      salt: SALT,
    },
    optional: { image: IMAGE },
    outputs: ['IMAGE'],
    run: async (call) => {
      const { message, after_steps, kind } = call.inputs;
      for (let step = 1; step <= Number(after_steps); step += 1) await call.progress(step, Number(after_steps) * 2);
      // Without a message not even a line in the log.
      if (kind === 'SystemExit') throw new SystemExit(String(message));
      throw new NodeRaised(`${OF_TORCH.has(String(kind)) ? 'torch.' : ''}${String(kind)}`, String(message));
    },
  },
  TestAbort: {
    required: { what: TEXT, salt: SALT },
    outputs: ['IMAGE'],
    run: ({ inputs, log }) => {
      log(`terminate called after throwing an instance of 'test'\n  what():  ${String(inputs['what'])}\n`);
      throw new ProcessAbort();
    },
  },
  TestSleep: {
    required: { seconds: SECONDS, salt: SALT },
    outputs: ['IMAGE'],
    run: async (call) => {
      await call.sleep(Number(call.inputs['seconds']));
      return { values: [GREY] };
    },
  },
  TestAsync: {
    required: { seconds: SECONDS, salt: SALT },
    outputs: ['IMAGE'],
    isAsync: true,
    run: async (call) => {
      // Long enough for the other asynchronous nodes to come as far.
      const letOthers = async (): Promise<void> => {
        for (let turn = 0; turn < 4; turn += 1) await call.idle();
      };
      for (let step = 1; step <= 4; step += 1) {
        await letOthers();
        await call.progress(step, 4);
      }
      await letOthers();
      return { values: [GREY] };
    },
  },
  TestBlock: {
    required: { message: TEXT, salt: SALT },
    outputs: ['IMAGE'],
    run: ({ inputs }) => ({ values: [new Blocker(String(inputs['message']) || null)] }),
  },
  TestExpand: {
    required: { n: STEPS, fail: FLAG, preview: FLAG, salt: SALT },
    outputs: ['IMAGE'],
    run: ({ id, inputs }) => expansion(id, inputs),
  },
  TestText: {
    required: { text: TEXT },
    outputs: ['STRING'],
    run: (call) => {
      call.showProgress(`progress: ${String(call.inputs['text'])}`);
      return { values: [call.inputs['text']], ui: { text: [call.inputs['text']] } };
    },
  },
  TestStdout: {
    required: { text: TEXT, lines: STEPS, salt: SALT },
    outputs: ['IMAGE'],
    run: ({ inputs, log, print }) => {
      for (let line = 0; line < Number(inputs['lines']); line += 1) {
        print(`STDOUT ${String(inputs['text'])} ${line}\n`);
        log(`LOGGING ${String(inputs['text'])} ${line}\n`);
      }
      print('the last words, with no line break');
      return { values: [GREY] };
    },
  },
  TestTinyModel: {
    required: { channels: STEPS, seed: SALT },
    outputs: ['MODEL', 'CONDITIONING'],
    run: () => ({ values: ['model', 'conditioning'] }),
  },
  TestLatentToImage: {
    required: { samples: '["LATENT"]' },
    outputs: ['IMAGE'],
    run: () => ({ values: [GREY] }),
  },
  TestCustomUI: {
    required: { ui_json: TEXT, salt: SALT },
    outputNode: true,
    run: ({ inputs }) => {
      const members = Object.entries(topLevelMembers(String(inputs['ui_json'])));
      return { ui: Object.fromEntries(members.map(([kind, text]) => [kind, new RawJson(text)])) };
    },
  },
};

/** `n` stepping nodes in a row, then one that fails or shows its picture if asked to. */
function expansion(id: string, inputs: Readonly<Record<string, unknown>>) {
  const graph: Record<string, { class_type: string; inputs: Record<string, unknown> }> = {};
  let last: [string, number] | null = null;
  let count = 0;
  const add = (class_type: string, nodeInputs: Record<string, unknown>): [string, number] => {
    count += 1;
    graph[`${id}.0.0.${count}`] = { class_type, inputs: nodeInputs };
    return [`${id}.0.0.${count}`, 0];
  };
  for (let at = 0; at < Number(inputs['n']); at += 1) {
    const salt = Number(inputs['salt']) + at;
    last = add('TestSteps', { steps: 3, seconds_per_step: 0.02, salt, ...(last ? { image: last } : {}) });
  }
  if (inputs['fail']) {
    last = add('TestFail', { message: 'inner boom', after_steps: 1, kind: 'RuntimeError', salt: 0, image: last });
  }
  if (inputs['preview']) add('PreviewImage', { images: last });
  return { expand: { graph, values: [last] } };
}

/** The members of an object as texts, where the object is not JSON: `{"n":[NaN]}`. One member is enough here. */
function topLevelMembers(text: string): Record<string, string> {
  const match = /^\{\s*"(\w+)"\s*:([^]*)\}$/.exec(text.trim());
  return match?.[1] && match[2] ? { [match[1]]: match[2] } : {};
}
