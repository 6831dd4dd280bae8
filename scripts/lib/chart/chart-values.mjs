import { isMap, isScalar, parseDocument } from 'yaml';
import { parseJson } from '../system/index.mjs';

/**
 * A value of values.yaml: where it is, what its comment says, its default, and the JSON Schema that its comment adds.
 *
 * @typedef {{
 *   path: string[],
 *   text: string,
 *   fallback: unknown,
 *   schema: Record<string, unknown>,
 *   children: ChartValue[],
 * }} ChartValue
 * `children` is empty where the value is one thing to its reader, and the whole of it the default.
 */

/** @typedef {import('yaml').YAMLMap<unknown, import('yaml').Node | null>} Mapping */

const TEXT = /^ ?-- (.*)$/;
const SCHEMA = /^ ?@schema (.*)$/;

/**
 * Read values.yaml with its comments.
 *
 * @param {string} yaml
 * @returns {ChartValue[]}
 * @throws {Error} naming a value without a comment
 */
export function readChartValues(yaml) {
  const { contents } = parseDocument(yaml);
  if (!isMap(contents)) throw new Error('values.yaml is no mapping.');
  return valuesIn(/** @type {Mapping} */ (/** @type {unknown} */ (contents)), []);
}

/**
 * @param {Mapping} map
 * @param {string[]} above
 * @returns {ChartValue[]}
 */
function valuesIn(map, above) {
  return map.items.map(({ key, value }, index) => {
    if (!isScalar(key)) throw new Error('A key of values.yaml is no word.');
    const path = [...above, String(key.value)];
    // The comment above a map's first key belongs to the map for the parser.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    const { text, schema } = readComment(path, comment ?? '');
    const described = text !== '';
    const children = isMap(value) && !described ? valuesIn(/** @type {Mapping} */ (value), path) : [];
    if (!described && children.length === 0) throw new Error(`values.yaml does not say what ${path.join('.')} is.`);
    /** @type {unknown} */
    const fallback = value === null ? null : value.toJSON();
    return { path, text, fallback, schema, children };
  });
}

/**
 * @param {string[]} path
 * @param {string} comment
 */
function readComment(path, comment) {
  /** @type {string[]} */
  const text = [];
  /** @type {Record<string, unknown>} */
  let schema = {};
  // A comment that a blank line parts from the value is about the file.
  const own = comment.split(/\n[ \t]*\n/).at(-1) ?? '';
  for (const line of own.split('\n')) {
    const json = SCHEMA.exec(line)?.[1];
    if (json !== undefined) schema = parse(path, json);
    else if (TEXT.test(line)) text.push(TEXT.exec(line)?.[1] ?? '');
    else if (text.length > 0) text.push(line.trim());
  }
  return { text: text.join(' '), schema };
}

/**
 * @param {string[]} path
 * @param {string} json
 * @returns {Record<string, unknown>}
 */
function parse(path, json) {
  try {
    return /** @type {Record<string, unknown>} */ (parseJson(json));
  } catch (error) {
    throw new Error(`The @schema of ${path.join('.')} in values.yaml is no JSON.`, { cause: error });
  }
}
