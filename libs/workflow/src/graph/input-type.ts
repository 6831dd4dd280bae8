import type { InputSpec } from '@millrace/contracts';
import { alternatives } from './catalogue';

/** An input's specification in the form that checking thousands of values a second wants. */
export interface InputType {
  /** The type that decides the conversion of a literal; `other` for unions and everything an engine leaves alone. */
  kind: 'INT' | 'FLOAT' | 'STRING' | 'BOOLEAN' | 'COMBO' | 'other';
  /** Exact: a bigint when the text is a whole number. */
  min: number | bigint | undefined;
  max: number | bigint | undefined;
  /** The values accepted; strings as they are, numbers and booleans as numbers (Python holds 1, 1.0 and True equal). */
  options: ReadonlySet<string | number> | undefined;
  /** A choice of which no option is a file name. Others may be one of the files that an engine finds when it runs, an asset among them. */
  isChoiceOfWords: boolean;
  /** No literal can stand for such a value. */
  linkOnly: boolean;
}

const FILE_NAME = /\.\w{1,16}$/;

/**
 * Types whose values live in an engine's memory and can't be written as JSON. Other names, a pack's own included, may be
 * those of an editor's widget that sends its value as a literal (`WEBCAM`, `LOAD_3D`).
 */
const IN_MEMORY = new Set(
  'IMAGE MASK LATENT CONDITIONING MODEL CLIP VAE CONTROL_NET CLIP_VISION CLIP_VISION_OUTPUT STYLE_MODEL UPSCALE_MODEL SAMPLER SIGMAS NOISE GUIDER AUDIO VIDEO'.split(
    ' ',
  ),
);

const CONVERTED = new Set(['INT', 'FLOAT', 'STRING', 'BOOLEAN', 'COMBO'] as const);

/** A catalogue is replaced, never changed in place: what was read from a specification stays true of it. */
const known = new WeakMap<InputSpec, InputType>();

export function inputTypeOf(spec: InputSpec): InputType {
  let type = known.get(spec);
  if (!type) known.set(spec, (type = read(spec)));
  return type;
}

function read(spec: InputSpec): InputType {
  return {
    kind: [...CONVERTED].find((kind) => kind === spec.type) ?? 'other',
    min: bound(spec.min),
    max: bound(spec.max),
    options:
      spec.options && new Set(spec.options.map((option) => (typeof option === 'string' ? option : Number(option)))),
    isChoiceOfWords: spec.type === 'COMBO' && isOfWords(spec.options ?? []),
    linkOnly: spec.linkOnly === true || alternatives(spec.type).every((type) => IN_MEMORY.has(type)),
  };
}

function isOfWords(options: NonNullable<InputSpec['options']>): boolean {
  return options.length > 0 && !options.some((option) => typeof option === 'string' && FILE_NAME.test(option));
}

function bound(text: string | undefined): number | bigint | undefined {
  if (text === undefined) return undefined;
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}
