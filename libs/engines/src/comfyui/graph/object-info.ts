import { createHash } from 'node:crypto';
import type { InputSpec, NodeCatalogue, NodeClass, OutputSpec } from '@millrace/contracts';
import { member, members, parseJson, sliceOf, type JsonNode } from '@millrace/workflow';
import { toStrictJson } from '../protocol';
import { isOfRuns } from '../files';
import { isDeterministic } from './deterministic-classes';

/**
 * Classes known to take inputs that `/object_info` does not name: a video saver whose settings depend on the format.
 * Operators add those of their own node packs (`openInputClasses`).
 */
const OPEN_INPUT_CLASSES = ['VHS_VideoCombine'];

/** Types of newer nodes whose inputs take form from the graph itself: names beyond the declared ones are theirs. */
const SHAPE_SHIFTING = /^COMFY_(?:AUTOGROW|DYNAMIC\w*)_V\d+$/;
const DYNAMIC_COMBO = /^COMFY_DYNAMICCOMBO_V\d+$/;
const MATCHING = /^COMFY_\w+_V\d+$/;

const UPLOADS = {
  image_upload: 'image',
  animated_image_upload: 'image',
  video_upload: 'video',
  audio_upload: 'audio',
  file_upload: 'any',
} as const satisfies Record<string, InputSpec['file']>;

/**
 * The catalogue that an answer of `GET /object_info` describes, both its legacy form (`[["a", "b"], {}]`) and the newer
 * one (`["COMBO", {"options": […]}]`). Bounds keep their digits. Lists of the files on the server are left out: a file
 * comes with the run, and what others left there is not for anyone to see.
 *
 * @param openInputClasses classes that accept inputs which they do not declare
 * @throws {JsonSyntaxError | JsonLimitError} when the text is no JSON
 */
export function readObjectInfo(text: string, openInputClasses: readonly string[] = []): NodeCatalogue {
  const strict = toStrictJson(text);
  const open = new Set([...OPEN_INPUT_CLASSES, ...openInputClasses]);
  const root = parseJson(strict, { maxValues: 20_000_000 });
  const classes = [...members(root)].map(([name, info]) => [name, readClass(name, info, strict, open)] as const);
  return Object.fromEntries(classes);
}

/** Equal for catalogues that say the same, with their classes in any order. */
export function catalogueDigest(catalogue: NodeCatalogue): string {
  const sorted = Object.keys(catalogue).sort();
  return createHash('sha256')
    .update(JSON.stringify(sorted.map((name) => [name, catalogue[name]])))
    .digest('hex');
}

function readClass(name: string, info: JsonNode, text: string, open: ReadonlySet<string>): NodeClass {
  const input = member(info, 'input');
  const specs = input ? members(input) : new Map<string, JsonNode>();
  const inputs: [string, InputSpec][] = [];
  let acceptsUnknownInputs = open.has(name);
  for (const section of ['required', 'optional']) {
    const declared = specs.get(section);
    for (const [inputName, spec] of declared ? members(declared) : []) {
      const type = typeOf(spec);
      if (type === null || SHAPE_SHIFTING.test(type)) acceptsUnknownInputs = true;
      if (type === null) continue;
      const read = readInput(type, spec, section === 'required', text);
      inputs.push([inputName, name === 'LoadLatent' && inputName === 'latent' ? asFile(read, 'latent') : read]);
    }
  }
  return {
    displayName: stringOf(info, 'display_name') || name,
    category: stringOf(info, 'category'),
    description: stringOf(info, 'description'),
    inputs: Object.fromEntries(inputs),
    outputs: readOutputs(info),
    outputNode: isTrue(member(info, 'output_node')),
    ...(acceptsUnknownInputs ? { acceptsUnknownInputs } : {}),
    ...(isDeterministic(name, stringOf(info, 'python_module')) ? { deterministic: true } : {}),
  };
}

/** `COMBO` for a legacy list; null for what is no specification at all. */
function typeOf(spec: JsonNode): string | null {
  const type = spec.kind === 'array' ? spec.items[0] : undefined;
  if (type?.kind === 'array') return 'COMBO';
  return type?.kind === 'string' ? type.value : null;
}

function readInput(type: string, spec: JsonNode, required: boolean, text: string): InputSpec {
  const [first, options] = spec.kind === 'array' ? spec.items : [];
  const extras = options ?? { kind: 'object', start: 0, end: 0, entries: [] };
  const file = Object.entries(UPLOADS).find(([flag]) => isTrue(member(extras, flag)))?.[1];
  const isCombo = type === 'COMBO' || DYNAMIC_COMBO.test(type);
  const values = isCombo && !file ? optionsOf(first?.kind === 'array' ? first : member(extras, 'options')) : undefined;
  const fallback = member(extras, 'default');
  const multiple = member(extras, 'multiselect') ?? member(extras, 'multi_select');
  return {
    type: isCombo ? 'COMBO' : MATCHING.test(type) ? '*' : type,
    // An autogrow input is filled under names of its own making (`images.image0`), never under its own.
    required: required && !SHAPE_SHIFTING.test(type),
    ...bound('min', extras),
    ...bound('max', extras),
    ...(fallback && !file ? { default: plainValue(fallback, text) } : {}),
    ...(values ? { options: values } : {}),
    ...(multiple && (isTrue(multiple) || multiple.kind === 'object') ? { multiple: true } : {}),
    ...(isTrue(member(extras, 'multiline')) ? { multiline: true } : {}),
    ...(file ? { file } : {}),
    ...(isTrue(member(extras, 'forceInput')) ? { linkOnly: true } : {}),
    ...(stringOf(extras, 'tooltip') ? { tooltip: stringOf(extras, 'tooltip') } : {}),
  };
}

function asFile(spec: InputSpec, file: NonNullable<InputSpec['file']>): InputSpec {
  const { options: _serverFiles, default: _firstFile, ...rest } = spec;
  return { ...rest, file };
}

/** A list of options, or undefined where the list is made elsewhere (a remote one). Dynamic options go by their keys. */
function optionsOf(list: JsonNode | undefined): NonNullable<InputSpec['options']> | undefined {
  if (list?.kind !== 'array') return undefined;
  return list.items.flatMap((item): (string | number | boolean)[] => {
    const value = item.kind === 'object' ? member(item, 'key') : item;
    if (value?.kind === 'string') return isOfRuns(value.value) ? [] : [value.value];
    if (value?.kind === 'number') return [Number(value.raw)];
    return value?.kind === 'boolean' ? [value.value] : [];
  });
}

function bound(name: 'min' | 'max', extras: JsonNode): { min?: string; max?: string } {
  const value = member(extras, name);
  return value?.kind === 'number' ? { [name]: value.raw } : {};
}

/** The value as JavaScript has it, except that a whole number which a double would round stays decimal text. */
function plainValue(node: JsonNode, text: string): unknown {
  if (node.kind !== 'number') return JSON.parse(sliceOf(node, text)) as unknown;
  const value = Number(node.raw);
  return /^-?\d+$/.test(node.raw) && !Number.isSafeInteger(value) ? node.raw : value;
}

function readOutputs(info: JsonNode): OutputSpec[] {
  const names = itemsOf(info, 'output_name');
  const lists = itemsOf(info, 'output_is_list');
  return itemsOf(info, 'output').map((type, slot) => {
    const typeName = type.kind === 'string' ? type.value : 'COMBO';
    const name = names[slot];
    return {
      type: MATCHING.test(typeName) ? '*' : typeName,
      name: name?.kind === 'string' ? name.value : typeName,
      list: isTrue(lists[slot]),
    };
  });
}

function itemsOf(node: JsonNode, key: string): JsonNode[] {
  const list = member(node, key);
  return list?.kind === 'array' ? list.items : [];
}

function stringOf(node: JsonNode, key: string): string {
  const value = member(node, key);
  return value?.kind === 'string' ? value.value : '';
}

function isTrue(node: JsonNode | undefined): boolean {
  return node?.kind === 'boolean' && node.value;
}
