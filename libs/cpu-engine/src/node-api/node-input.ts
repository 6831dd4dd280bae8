import type { InputSpec } from '@millrace/contracts';
import type { ImageTensor, MaskTensor } from '../image/tensor';
import { NodeFault } from './node-fault';
import { checkTextLength } from './text-length';
import { typeOf, type Value } from './value';

/** One declared input: what a catalogue says of it, and how a value becomes what the node's function takes. */
export interface Input<T> {
  readonly spec: InputSpec;
  /** @throws {NodeFault} when the value is of another type. */
  readonly take: (value: Value, name: string) => T;
}

interface Bounds {
  min?: number | string;
  max?: number | string;
  default?: number;
}

/** The largest width or height that the field's nodes accept. */
export const MAX_RESOLUTION = 16384;

/** A whole number that fits a double. */
export function int(bounds: Bounds = {}): Input<number> {
  const { take, spec } = bigInt(bounds);
  return { spec, take: (value, name) => Number(take(value, name)) };
}

/** A whole number of any size. */
export function bigInt(bounds: Bounds = {}): Input<bigint> {
  return bounded(
    input('INT', (value) => (typeof value === 'bigint' ? value : undefined), written(bounds)),
    BigInt,
  );
}

/** A whole number of pixels from `min` to the largest resolution. */
export function pixels(min: number, preset: number): Input<number> {
  return int({ default: preset, min, max: MAX_RESOLUTION });
}

export function float(bounds: Bounds = {}): Input<number> {
  return bounded(
    input('FLOAT', (value) => (typeof value === 'number' ? value : undefined), written(bounds)),
    Number,
  );
}

export function string(spec: { default?: string; multiline?: boolean } = {}): Input<string> {
  const { take, ...rest } = input('STRING', (value) => (typeof value === 'string' ? value : undefined), spec);
  return {
    ...rest,
    take(value, name) {
      const text = take(value, name);
      checkTextLength(text.length, name);
      return text;
    },
  };
}

export function boolean(preset?: boolean): Input<boolean> {
  const spec = preset === undefined ? {} : { default: preset };
  return input('BOOLEAN', (value) => (typeof value === 'boolean' ? value : undefined), spec);
}

/** One of a few words. */
export function combo<const W extends string>(options: readonly W[], preset?: W): Input<W> {
  const spec = { options: [...options], ...(preset === undefined ? {} : { default: preset }) };
  return input('COMBO', (value) => options.find((option) => option === value), spec);
}

/** The name of an input file. */
export function imageFile(): Input<string> {
  return input('COMBO', (value) => (typeof value === 'string' ? value : undefined), { file: 'image' });
}

export function image(): Input<ImageTensor> {
  return input('IMAGE', (value) => (isKind(value, 'IMAGE') ? (value as ImageTensor) : undefined));
}

export function mask(): Input<MaskTensor> {
  return input('MASK', (value) => (isKind(value, 'MASK') ? (value as MaskTensor) : undefined));
}

export function anything(): Input<Value> {
  return input('*', (value) => value);
}

export function optional<T>({ spec, take }: Input<T>): Input<T | undefined> {
  return { spec: { ...spec, required: false }, take };
}

function input<T>(type: string, take: (value: Value) => T | undefined, spec: Partial<InputSpec> = {}): Input<T> {
  return {
    spec: { type, required: true, ...spec },
    take(value, name) {
      const taken = take(value);
      if (taken === undefined)
        throw new NodeFault(`${name} must be of type ${type}; what arrived is ${typeOf(value)}.`);
      return taken;
    },
  };
}

/**
 * Holds what arrives to the bounds of the catalogue: literals were judged with the graph, what comes over a link was not. A
 * number that is none is refused where there are bounds.
 */
function bounded<T extends bigint | number>({ spec, take }: Input<T>, read: (bound: string) => T): Input<T> {
  const [min, max] = [spec.min, spec.max].map((bound) => (bound === undefined ? undefined : read(bound)));
  return {
    spec,
    take(value, name) {
      const taken = take(value, name);
      if (min !== undefined && !(taken >= min))
        throw new NodeFault(`${name} must be at least ${min}; what arrived is ${taken}.`);
      if (max !== undefined && !(taken <= max))
        throw new NodeFault(`${name} must be at most ${max}; what arrived is ${taken}.`);
      return taken;
    },
  };
}

function isKind(value: Value, kind: 'IMAGE' | 'MASK'): boolean {
  return typeof value === 'object' && value !== null && value.kind === kind;
}

function written({ min, max, ...rest }: Bounds): Partial<InputSpec> {
  return {
    ...rest,
    ...(min === undefined ? {} : { min: String(min) }),
    ...(max === undefined ? {} : { max: String(max) }),
  };
}
