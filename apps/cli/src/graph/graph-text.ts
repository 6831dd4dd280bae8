import { UsageFailure } from '../process';
import { JsonTextError, memberOf, membersOf, parseJsonText, textOf, type JsonMember, type JsonNode } from './json-text';

/** An input of a node of the graph; `value` is undefined where the graph does not give it. */
export interface InputPlace {
  nodeId: string;
  field: string;
  inputs: JsonNode;
  value: JsonNode | undefined;
}

interface Splice {
  offset: number;
  length: number;
  text: string;
}

/**
 * A graph in API format as text. Values are replaced where they stand; every other byte stays as its author wrote it,
 * because a 64-bit seed or `1.0` does not survive a JSON number (wire supplement, section 4).
 */
export class GraphText {
  private readonly edits = new Map<string, { place: InputPlace; json: string }>();

  private constructor(
    private readonly source: string,
    private readonly root: JsonNode,
  ) {}

  /** @throws {UsageFailure} when the text is not a graph in API format. */
  static parse(text: string, name: string): GraphText {
    const source = text.replace(/^\ufeff/, '');
    const root = rootOf(source, name);
    if (root.type !== 'object') throw new UsageFailure(`${name} is not a graph: it is not a JSON object.`, EXPORT_CURE);
    const isList = (key: string): boolean => memberOf(root, key)?.value.type === 'array';
    if (isList('nodes') && isList('links'))
      throw new UsageFailure(`${name} is in the editor's own format, which cannot be run.`, EXPORT_CURE);
    return new GraphText(source, root);
  }

  /** Class names by node id, for the nodes that name one. */
  classes(): Map<string, string> {
    return new Map(
      membersOf(this.root).flatMap(({ key, value }): [string, string][] => {
        const name = memberOf(value, 'class_type')?.value;
        return name?.type === 'string' ? [[key, String(name.value)]] : [];
      }),
    );
  }

  /**
   * Find `<node id>.<input>`. Both may hold dots: the longest node id of the graph that fits wins.
   *
   * @throws {UsageFailure}
   */
  place(target: string): InputPlace {
    const ids = membersOf(this.root).map(({ key }) => key);
    const nodeId = ids.filter((id) => target.startsWith(`${id}.`)).sort((a, b) => b.length - a.length)[0];
    if (nodeId === undefined) {
      const known = ids.slice(0, 20).join(', ');
      throw new UsageFailure(
        `The graph has no node for ${JSON.stringify(target)}.`,
        `Its nodes are ${known || 'none'}.`,
      );
    }
    const node = memberOf(this.root, nodeId)?.value;
    const inputs = node && memberOf(node, 'inputs')?.value;
    if (inputs?.type !== 'object')
      throw new UsageFailure(`Node ${nodeId} of the graph has no inputs.`, 'Give it an "inputs" object.');
    const field = target.slice(nodeId.length + 1);
    return { nodeId, field, inputs, value: memberOf(inputs, field)?.value };
  }

  /**
   * Give an input a value, as JSON text.
   *
   * @throws {UsageFailure} when it was given one before.
   */
  set(place: InputPlace, json: string): void {
    const key = JSON.stringify([place.nodeId, place.field]);
    if (this.edits.has(key)) throw new UsageFailure(`${place.nodeId}.${place.field} is given twice.`, 'Give it once.');
    this.edits.set(key, { place, json });
  }

  /** The text with all values in place. */
  toString(): string {
    const splices = [...this.replacements(), ...this.additions()].sort((a, b) => a.offset - b.offset);
    let at = 0;
    let text = '';
    for (const splice of splices) {
      text += this.source.slice(at, splice.offset) + splice.text;
      at = splice.offset + splice.length;
    }
    return text + this.source.slice(at);
  }

  private replacements(): Splice[] {
    return [...this.edits.values()].flatMap(({ place: { value }, json }) =>
      value ? [{ offset: value.offset, length: value.length, text: json }] : [],
    );
  }

  /** New members follow the last one of their object, spaced as that one is. */
  private additions(): Splice[] {
    const byObject = new Map<JsonNode, string>();
    for (const { place, json } of this.edits.values()) {
      if (place.value) continue;
      const earlier = byObject.get(place.inputs) ?? '';
      const last = membersOf(place.inputs).at(-1);
      const comma = last || earlier ? ',' : '';
      const { lead, separator } = last ? this.spacing(last) : { lead: '', separator: ': ' };
      byObject.set(place.inputs, `${earlier}${comma}${lead}${JSON.stringify(place.field)}${separator}${json}`);
    }
    return [...byObject].map(([inputs, text]) => {
      const last = membersOf(inputs).at(-1)?.value;
      return { offset: last ? last.offset + last.length : inputs.offset + 1, length: 0, text };
    });
  }

  private spacing({ keyNode, value }: JsonMember): { lead: string; separator: string } {
    const before = this.source.slice(0, keyNode.offset);
    return {
      lead: before.slice(before.trimEnd().length),
      separator: this.source.slice(keyNode.offset + keyNode.length, value.offset),
    };
  }
}

const EXPORT_CURE = 'Export the graph from the editor in API format ("Export (API)") and use that file.';

/**
 * The JSON text for a value typed on the command line. Where the graph has a string it stays a string, so that a text
 * of digits is still a text; elsewhere JSON is taken digit for digit, and anything else is a string.
 *
 * @param asJson the value must be JSON, also where the graph has a string.
 * @throws {UsageFailure} when it must be and is not.
 */
export function valueJson(current: JsonNode | undefined, value: string, asJson: boolean): string {
  const json = asJson || current?.type !== 'string' ? jsonOf(value) : null;
  if (asJson && json === null)
    throw new UsageFailure(`${JSON.stringify(value)} is not JSON.`, 'Write = instead of := for a plain string.');
  return json ?? JSON.stringify(value);
}

/** A reference to an uploaded file (wire supplement, section 4). */
export function assetReference(id: string): string {
  return JSON.stringify({ __type: 'core/ASSET', info: { id } });
}

function jsonOf(value: string): string | null {
  try {
    return textOf(parseJsonText(value), value);
  } catch {
    return null;
  }
}

function rootOf(source: string, name: string): JsonNode {
  try {
    return parseJsonText(source);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new UsageFailure(
      `${name} is not JSON: the error is at line ${error.line}, column ${error.column}.`,
      'Correct the file there.',
    );
  }
}
