import type { InputSpec, NodeErrorReason } from '@millrace/contracts';
import { assetObjectOf, inputTypeOf, isAssetObject, type InputType } from '../graph';
import { sliceOf, type JsonNode, jsonNumber, pythonFloat, pythonInt } from '../json';
import { shown } from './faults';

export interface LiteralFault {
  reason: NodeErrorReason;
  message: string;
}

/** Lists of options up to this length are shown whole in a message. */
const SHOWN_OPTIONS = 20;
const SHOWN_OPTIONS_LENGTH = 400;

/** A literal given to an input. */
interface Literal {
  /** As unwrapped. */
  value: JsonNode;
  /** The text that `value` was parsed from. */
  text: string;
  /** The input's name, for messages. */
  name: string;
  spec: InputSpec;
}

/**
 * What keeps an engine from taking a literal as the value of an input, or null. Conversions are the engine's own: `"64"`
 * and 64.9 are whole numbers, anything is a string or a boolean. An asset reference becomes a file name.
 */
export function literalFault(literal: Literal): LiteralFault | null {
  const { value, spec } = literal;
  if (value.kind !== 'array' || !spec.multiple) return singleFault(literal);
  for (const item of value.items) {
    const fault = singleFault({ ...literal, value: item });
    if (fault) return fault;
  }
  return null;
}

function singleFault(literal: Literal): LiteralFault | null {
  const { value, spec } = literal;
  const type = inputTypeOf(spec);
  if (isAssetObject(value)) return assetFault(type, literal);
  if (type.linkOnly) return linkOnlyFault(literal);
  if (spec.file) return value.kind === 'string' ? null : invalid(literal, 'an asset reference or a file name');
  switch (type.kind) {
    case 'INT':
      return numberFault(pythonInt(value), 'a whole number', type, literal);
    case 'FLOAT':
      return numberFault(pythonFloat(value), 'a number', type, literal);
    case 'COMBO':
      return optionFault(type, literal);
    case 'other':
      return value.kind === 'number' ? numberFault(jsonNumber(value.raw), 'a number', type, literal) : null;
    case 'STRING':
    case 'BOOLEAN':
      return null;
  }
}

/** A malformed reference passes here: it is refused as a reference, like one to an asset that is missing. */
function assetFault(type: InputType, { value, spec, name }: Literal): LiteralFault | null {
  if (assetObjectOf(value).id === null || spec.file !== undefined) return null;
  if (type.linkOnly) {
    const message = `${name} takes a value of type ${spec.type} from another node, and an asset is a file: load it in a node such as LoadImage, and link that.`;
    return { reason: 'invalid_type', message };
  }
  if (type.kind !== 'INT' && type.kind !== 'FLOAT' && !type.isChoiceOfWords) return null;
  const message = `${name} (${spec.type}) takes no file, and an asset is one: refer to it at an input that names a file, such as image of LoadImage.`;
  return { reason: 'invalid_type', message };
}

/** An optional link may be left open with null: an engine hands the node a null for it. */
function linkOnlyFault({ value, spec, name }: Literal): LiteralFault | null {
  if (value.kind === 'null' && !spec.required) return null;
  const message = `${name} takes a value of type ${spec.type} from another node: give it a link, [node id, output slot].`;
  return { reason: 'invalid_type', message };
}

function invalid({ value, text, name }: Literal, expected: string): LiteralFault {
  return { reason: 'invalid_type', message: `${name} must be ${expected}, not ${shown(sliceOf(value, text))}.` };
}

function numberFault(
  number: number | bigint | null,
  expected: string,
  { min, max }: InputType,
  literal: Literal,
): LiteralFault | null {
  if (number === null) return invalid(literal, expected);
  const { name, spec, value, text } = literal;
  if (min !== undefined && number < min) {
    return {
      reason: 'below_min',
      message: `${name} must be at least ${spec.min}, not ${shown(sliceOf(value, text))}.`,
    };
  }
  if (max !== undefined && number > max) {
    return { reason: 'above_max', message: `${name} must be at most ${spec.max}, not ${shown(sliceOf(value, text))}.` };
  }
  return null;
}

function optionFault({ options }: InputType, { value, text, name, spec }: Literal): LiteralFault | null {
  if (!options || options.has(optionKey(value))) return null;
  const message = `${name} must be ${describeOptions(spec)}, not ${shown(sliceOf(value, text))}.`;
  return { reason: 'not_in_list', message };
}

/** Equal keys are equal options to Python, where 1, 1.0 and True are the same. NaN stands for what equals no option. */
function optionKey(value: JsonNode): string | number {
  if (value.kind === 'string') return value.value;
  if (value.kind === 'number') return Number(value.raw);
  return value.kind === 'boolean' ? Number(value.value) : NaN;
}

function describeOptions({ options = [] }: InputSpec): string {
  if (options.length === 0) return 'one of the options, of which there are none here';
  const list = options.length <= SHOWN_OPTIONS ? options.map((option) => JSON.stringify(option)).join(', ') : '';
  if (list === '' || list.length > SHOWN_OPTIONS_LENGTH) return `one of the ${options.length} options of this input`;
  return `one of ${list}`;
}
