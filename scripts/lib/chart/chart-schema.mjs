/** @typedef {import('./chart-values.mjs').ChartValue} ChartValue */
/** @typedef {Record<string, unknown>} Schema */

const QUANTITY = '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$';
const SCALAR = { type: ['string', 'number', 'boolean'] };
/** @type {Schema} */
const AMOUNTS = { type: 'object', additionalProperties: { type: ['string', 'number'], pattern: QUANTITY } };

/** What values are made of, wherever they stand. */
const DEFINITIONS = {
  amountOrPercent: { type: ['string', 'integer'], minimum: 0, pattern: '^([0-9]+%?)?$' },
  digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
  optionalDigest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  duration: { type: 'string', pattern: '^([0-9]+(ms|s|m|h))+$' },
  peer: closed({
    ipBlock: closed({ cidr: { type: 'string' }, except: { type: 'array', items: { type: 'string' } } }),
    namespaceSelector: { type: 'object' },
    podSelector: { type: 'object' },
  }),
  placement: closed({
    nodeSelector: { $ref: '#/$defs/strings' },
    tolerations: { type: 'array', items: { type: 'object' } },
    affinity: { type: 'object' },
    topologySpreadConstraints: { type: 'array', items: { type: 'object' } },
    priorityClassName: { type: 'string' },
  }),
  // What the service asks of a pool's name, less what a Kubernetes label refuses.
  poolName: { type: 'string', pattern: '^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$' },
  port: { type: 'integer', minimum: 1, maximum: 65_535 },
  quantity: { type: 'string', pattern: QUANTITY },
  resources: closed({ requests: AMOUNTS, limits: AMOUNTS }),
  strings: { type: 'object', additionalProperties: { type: 'string' } },
  url: { type: 'string', pattern: '^(https?://[^\\s/]+(/.*)?)?$' },
};

/**
 * The JSON Schema of the chart's values: closed, so that a misspelt name is refused.
 *
 * @param {ChartValue[]} values
 * @param {{ name: string, description: string }[]} settings those that may be set through `settings`
 * @returns {Schema}
 */
export function chartSchema(values, settings) {
  const pool = values.find(({ path }) => path[0] === 'workerDefaults');
  if (pool === undefined) throw new Error('values.yaml has no workerDefaults.');
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart millrace',
    ...schemaOf({ path: [], text: '', fallback: {}, schema: {}, children: values }),
    // Filled in by Helm for every chart.
    properties: { ...propertiesOf(values), global: { type: 'object' } },
    $defs: {
      ...DEFINITIONS,
      pools: {
        type: 'object',
        minProperties: 1,
        propertyNames: { $ref: '#/$defs/poolName' },
        additionalProperties: { anyOf: [{ $ref: '#/$defs/pool' }, { type: 'null' }] },
      },
      pool: schemaOf(pool),
      settings: closed(Object.fromEntries(settings.map(({ name, description }) => [name, { ...SCALAR, description }]))),
    },
  };
}

/** @param {ChartValue[]} values */
function propertiesOf(values) {
  return Object.fromEntries(values.map((value) => [value.path.at(-1) ?? '', schemaOf(value)]));
}

/**
 * @param {ChartValue} value
 * @returns {Schema}
 */
function schemaOf({ text, fallback, schema, children }) {
  if (children.length > 0) return closed(propertiesOf(children));
  // Beside a $ref, draft 7 sees nothing else.
  if ('$ref' in schema) return { allOf: [schema], description: text };
  return { ...typeOf(fallback), description: text, ...schema };
}

/**
 * @param {unknown} value
 * @returns {Schema}
 */
function typeOf(value) {
  if (Array.isArray(value)) return { type: 'array' };
  if (value !== null && typeof value === 'object') return { type: 'object' };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  return { type: typeof value };
}

/** @param {Schema} properties */
function closed(properties) {
  return { type: 'object', additionalProperties: false, properties };
}
