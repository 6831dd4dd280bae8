import type { InputSpec } from '@millrace/contracts';
import { isPathInput, linkOf, member, sliceOf, type JsonNode } from '@millrace/workflow';
import { isEscapingPath, isOfRuns } from '../files';

/** `name [input]`: the suffix by which ComfyUI lets a name choose its folder. */
const FOLDER_SUFFIX = /\[(?:input|output|temp)\]\s*$/;

/** Why an input can't be posted; `missingFile` when it names a file that did not come with the run. */
export class InputRefusal extends Error {
  constructor(
    message: string,
    readonly missingFile: boolean = false,
  ) {
    super(message);
  }
}

/**
 * The text of one input's value as it is posted. Numbers and everything else keep their text, digit for digit; names of
 * the run's input files become the names that they have on the server, at any depth; a list that is no link is wrapped,
 * because ComfyUI reads any other list as one.
 *
 * @param spec the input's declaration; undefined where the class accepts inputs that it does not declare
 * @param staged the names of the run's input files on the server, by their names in the graph
 * @throws {InputRefusal} when the value reaches for a file that is not the run's
 */
export function postedValue(
  name: string,
  value: JsonNode,
  spec: InputSpec | undefined,
  staged: ReadonlyMap<string, string>,
  text: string,
): string {
  const link = linkOf(value);
  if (!link && (isLinkToPython(value) || isLinkToPython(member(value, '__value__')))) {
    throw new InputRefusal(`${name} has the form of a link, and is none: a link is [node id, output slot].`);
  }
  if (spec?.file) {
    if (link) throw new InputRefusal(`${name} names an input file and takes no link.`);
    for (const file of stringsIn(value)) if (!staged.has(file)) throw unknownFile(name);
  } else if (!link && (isPathInput(name, spec) || spec?.type === 'COMBO')) {
    for (const path of stringsIn(value)) if (!staged.has(path)) refuseEscape(name, path, spec);
  }
  const posted = withStagedNames(value, staged, text);
  return value.kind === 'array' && !link ? `{"__value__":${posted}}` : posted;
}

/** What ComfyUI follows as a link, once past its checks: to a node that is missing, that ends its worker thread. */
function isLinkToPython(node: JsonNode | undefined): boolean {
  if (node?.kind !== 'array' || node.items.length !== 2) return false;
  const [first, second] = node.items;
  return first?.kind === 'string' && (second?.kind === 'number' || second?.kind === 'boolean');
}

function refuseEscape(name: string, path: string, spec: InputSpec | undefined): void {
  const isOffered = spec?.options?.includes(path) === true;
  const leaves = !isOffered && (isEscapingPath(path) || FOLDER_SUFFIX.test(path));
  // Later versions list the folders of the runs among others: files of another account may still lie there.
  if (!leaves && !isOfRuns(path)) return;
  throw new InputRefusal(`${name} is a path outside the run's own files. Upload the file and refer to it as an asset.`);
}

function unknownFile(name: string): InputRefusal {
  return new InputRefusal(
    `${name} names a file that did not come with the job. Upload it and refer to it as an asset.`,
    true,
  );
}

function stringsIn(node: JsonNode): string[] {
  return literalsIn(node).map(({ value }) => value);
}

/** The text of a value with the names of input files replaced; all else is copied. */
function withStagedNames(node: JsonNode, staged: ReadonlyMap<string, string>, text: string): string {
  const parts: string[] = [];
  let at = node.start;
  for (const literal of literalsIn(node)) {
    const name = staged.get(literal.value);
    if (name === undefined) continue;
    parts.push(text.slice(at, literal.start), JSON.stringify(name));
    at = literal.end;
  }
  return at === node.start ? sliceOf(node, text) : parts.join('') + text.slice(at, node.end);
}

function literalsIn(node: JsonNode): Extract<JsonNode, { kind: 'string' }>[] {
  if (node.kind === 'string') return [node];
  if (node.kind === 'array') return node.items.flatMap(literalsIn);
  return node.kind === 'object' ? node.entries.flatMap(({ value }) => literalsIn(value)) : [];
}
