import type { NodeCall, NodeClass, Pictures } from './node-class';
import { NodeRaised } from './node-class';
import { PREVIEW_JPEG, pngOf } from './picture';

const IMAGE = '["IMAGE"]';
const PREFIX = '["STRING", {"default": "ComfyUI"}]';

const int = (min: string, max: string, value: string): string =>
  `["INT", {"default": ${value}, "min": ${min}, "max": ${max}}]`;

const STEP_PICTURE = { format: 'JPEG', bytes: PREVIEW_JPEG } as const;

const SIZE = int('1', '16384', '64');
const SEED = int('0', '18446744073709551615', '0');

function pictures(call: NodeCall, name: string): Pictures {
  return call.inputs[name] as Pictures;
}

function saveAll(call: NodeCall, type: 'output' | 'temp', prefix: string, input: string): Record<string, unknown> {
  const { width, height, colour, count } = pictures(call, input);
  return { images: Array.from({ length: count }, () => call.save(type, prefix, 'png', pngOf(width, height, colour))) };
}

const previewNode = (input: string, type: string): NodeClass => ({
  required: { [input]: type },
  outputNode: true,
  run: (call) => ({ ui: saveAll(call, 'temp', `ComfyUI_temp_${call.id.replace(/\W/g, '')}abcd`, input) }),
});

/** A node that reports one made-up file, as savers of video, sound and latents do. */
const saverNode = (
  input: string,
  type: string,
  kind: string,
  extension: string,
  extra: { inputs?: Record<string, string>; report?: Record<string, unknown> } = {},
): NodeClass => ({
  required: { [input]: `["${type}"]`, filename_prefix: PREFIX, ...extra.inputs },
  outputNode: true,
  run: (call) => {
    const file = call.save(
      'output',
      String(call.inputs['filename_prefix']),
      extension,
      Buffer.from(`${extension} bytes`),
    );
    return { ui: { [kind]: [file], ...extra.report } };
  },
});

const sourceNode = (outputs: string[], required: Record<string, string> = {}): NodeClass => ({
  required,
  outputs,
  run: () => ({ values: outputs.map((type) => ({ type })) }),
});

/** Nodes of ComfyUI's own, as far as their messages, files and reports go. */
export const CORE_NODES: Readonly<Record<string, NodeClass>> = {
  EmptyImage: {
    required: { width: SIZE, height: SIZE, batch_size: int('1', '4096', '1'), color: int('0', '16777215', '0') },
    outputs: ['IMAGE'],
    run: ({ inputs }) => {
      const { width, height, color, batch_size } = inputs as Record<string, number>;
      return { values: [{ width, height, colour: color, count: batch_size }] };
    },
  },
  ImageBatch: {
    required: { image1: IMAGE, image2: IMAGE },
    outputs: ['IMAGE'],
    run: (call) => {
      const first = pictures(call, 'image1');
      return { values: [{ ...first, count: first.count + pictures(call, 'image2').count }] };
    },
  },
  LoadImage: {
    required: { image: '[["example.png"], {"image_upload": true}]' },
    outputs: ['IMAGE', 'MASK'],
    changed: ({ image }, readInput) => readInput(String(image)).toString('base64'),
    validate: ({ image }, hasInput) =>
      hasInput(String(image)) ? null : `image - Invalid image file: ${String(image)}`,
    run: ({ inputs, readInput }) => {
      const bytes = readInput(String(inputs['image']));
      if (bytes.readUInt32BE(0) !== 0x89504e47)
        throw new NodeRaised('PIL.UnidentifiedImageError', 'cannot identify image file');
      const loaded = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), colour: 0x808080, count: 1 };
      return { values: [loaded, loaded] };
    },
  },
  SaveImage: {
    required: { images: IMAGE, filename_prefix: PREFIX },
    outputNode: true,
    run: (call) => ({ ui: saveAll(call, 'output', String(call.inputs['filename_prefix']), 'images') }),
  },
  PreviewImage: previewNode('images', IMAGE),
  MaskPreview: previewNode('mask', '["MASK"]'),
  SaveImageWebsocket: {
    required: { images: IMAGE },
    outputNode: true,
    // A time: never cached.
    changed: () => performance.now(),
    run: async (call) => {
      const { width, height, colour, count } = pictures(call, 'images');
      for (let at = 0; at < count; at += 1) {
        await call.progress(at, count, { format: 'PNG', bytes: pngOf(width, height, colour + at) });
      }
      return {};
    },
  },
  PrimitiveInt: {
    required: { value: int('-9223372036854775807', '9223372036854775807', '0') },
    outputs: ['INT'],
    run: ({ inputs }) => ({ values: [inputs['value']] }),
  },
  SolidMask: {
    required: { value: '["FLOAT", {"default": 1.0, "min": 0.0, "max": 1.0}]', width: SIZE, height: SIZE },
    outputs: ['MASK'],
    run: ({ inputs }) => {
      const { width, height } = inputs as Record<string, number>;
      return { values: [{ width, height, colour: 0xffffff, count: 1 }] };
    },
  },
  PreviewAny: {
    required: { source: '["*", {}]' },
    outputNode: true,
    run: ({ inputs }) => ({ ui: { text: [String(inputs['source'])] } }),
  },
  EmptyLatentImage: sourceNode(['LATENT'], { width: SIZE, height: SIZE, batch_size: int('1', '4096', '1') }),
  CheckpointLoaderSimple: sourceNode(['MODEL', 'CLIP', 'VAE'], {
    ckpt_name: '[["base.safetensors", "sub/other.safetensors"], {}]',
  }),
  CLIPTextEncode: sourceNode(['CONDITIONING'], { text: '["STRING", {"multiline": true}]', clip: '["CLIP"]' }),
  EmptyAudio: sourceNode(['AUDIO'], {
    duration: '["FLOAT", {"default": 60.0, "min": 0.0, "max": 1e+10}]',
    sample_rate: int('1', '192000', '44100'),
    channels: int('1', '2', '2'),
  }),
  CreateVideo: sourceNode(['VIDEO'], { images: IMAGE, fps: '["FLOAT", {"default": 30.0}]' }),
  KSampler: {
    required: {
      model: '["MODEL"]',
      seed: SEED,
      steps: int('1', '10000', '20'),
      cfg: '["FLOAT", {"default": 8.0, "min": 0.0, "max": 100.0}]',
      sampler_name: '[["euler", "ddim"], {}]',
      scheduler: '[["normal", "simple"], {}]',
      positive: '["CONDITIONING"]',
      negative: '["CONDITIONING"]',
      latent_image: '["LATENT"]',
      denoise: '["FLOAT", {"default": 1.0, "min": 0.0, "max": 1.0}]',
    },
    outputs: ['LATENT'],
    run: async (call) => {
      const steps = Number(call.inputs['steps']);
      for (let step = 1; step <= steps; step += 1)
        await call.progress(step, steps, call.picturesSteps ? STEP_PICTURE : undefined);
      return { values: [{ type: 'LATENT' }] };
    },
  },
  SaveLatent: saverNode('samples', 'LATENT', 'latents', 'latent'),
  SaveAudio: saverNode('audio', 'AUDIO', 'audio', 'flac'),
  SaveVideo: saverNode('video', 'VIDEO', 'images', 'mp4', {
    inputs: { format: '[["auto", "mp4"]]', codec: '[["auto", "h264"]]' },
    report: { animated: [true] },
  }),
  /** Writes a file, and says nothing of it. */
  VAESave: {
    required: { vae: '["VAE"]', filename_prefix: PREFIX },
    outputNode: true,
    run: (call) => {
      call.save('output', String(call.inputs['filename_prefix']), 'safetensors', Buffer.from('weights'));
      return {};
    },
  },
  Preview3D: {
    required: { model_file: '["STRING", {"default": "", "multiline": false}]' },
    outputNode: true,
    run: ({ inputs }) => ({ ui: { result: [inputs['model_file'], null] } }),
  },
};
