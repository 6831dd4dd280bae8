import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FILE = join(__dirname, '../../../docs/openapi.json');
const MOUNT = /^\/deployment\/[^/]+(?=\/api\/)/;
/** What the document tells of. */
const DESCRIBED = /^\/(api\/v2|content)(\/|$)/;

type Schema = Record<string, unknown>;

interface DescribedResponse {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: Schema }>;
}
interface DescribedOperation {
  operationId: string;
  responses: Record<string, DescribedResponse>;
}
interface ApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** An answer as a client saw it. */
export interface SeenAnswer {
  method: string;
  /** Path and query, with the mount prefix if there is one. */
  path: string;
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | undefined>;
  /** The body; null where it was not read. */
  text: string | null;
}

/**
 * Holds answers to docs/openapi.json: the status is one that the operation has, the body has its shape, and no field that
 * the document does not know.
 */
export class ApiDescription {
  private readonly shapes: Schema;
  private readonly readers = new Map<string, z.ZodType>();
  private readonly routes: { template: string; pattern: RegExp; operations: Record<string, DescribedOperation> }[];

  constructor(document: ApiDocument) {
    this.shapes = strict(document.components.schemas) as Schema;
    this.routes = Object.entries(document.paths)
      .map(([template, operations]) => ({ template, pattern: patternOf(template), operations }))
      // A path without parameters comes before one that would take its last part for a parameter.
      .sort((a, b) => a.template.split('{').length - b.template.split('{').length);
  }

  static read(): ApiDescription {
    return new ApiDescription(JSON.parse(readFileSync(FILE, 'utf8')) as ApiDocument);
  }

  /** What is wrong with an answer, in a sentence; null when the document has it as it is. */
  faultOf(answer: SeenAnswer): string | null {
    const path = (answer.path.split('?')[0] ?? '').replace(MOUNT, '');
    if (!DESCRIBED.test(path)) return null;
    const fault = this.commonFaultOf(answer) ?? this.faultOfOperation(answer, path);
    return fault === null ? null : `${answer.method} ${path} answered ${answer.status}: ${fault}`;
  }

  private commonFaultOf({ status, headers }: SeenAnswer): string | null {
    if (headers['x-request-id'] === undefined) return 'it has no X-Request-Id';
    if (status === 429 && !/^[1-9]\d*$/.test(headers['retry-after'] ?? ''))
      return 'Retry-After is no number of seconds';
    if (status === 405 && headers.allow === undefined) return 'it has no Allow';
    return null;
  }

  private faultOfOperation(answer: SeenAnswer, path: string): string | null {
    const route = this.routes.find(({ pattern }) => pattern.test(path));
    const method = answer.method.toLowerCase();
    const operation = route?.operations[method] ?? (method === 'head' ? route?.operations.get : undefined);
    if (operation === undefined) {
      const refused = answer.status >= 400 || method === 'options';
      return refused ? this.faultOfBody(answer, { content: errorContent }) : 'the document has no such operation';
    }
    const response = operation.responses[String(answer.status)];
    if (response === undefined) return `${operation.operationId} has no such status`;
    return this.faultOfBody(answer, response);
  }

  private faultOfBody(answer: SeenAnswer, { content = {} }: DescribedResponse): string | null {
    const { text } = answer;
    if (text === null) return null;
    if (answer.method.toUpperCase() === 'HEAD' || text === '') return this.faultOfNoBody(answer, content);
    const type = (answer.headers['content-type'] ?? '').split(';')[0] ?? '';
    const described = content[type] ?? content['*/*'];
    if (described === undefined) return `its body is ${type || 'of no type'}, and the document has none`;
    if (type !== 'application/json') return null;
    const { error } = this.readerOf(described.schema).safeParse(JSON.parse(text));
    return error === undefined ? null : z.prettifyError(error);
  }

  private faultOfNoBody({ method, text, status }: SeenAnswer, content: object): string | null {
    if (method.toUpperCase() === 'HEAD') return text === '' ? null : 'HEAD has a body';
    const may = Object.keys(content).length === 0 || '*/*' in content || method.toUpperCase() === 'OPTIONS';
    return may || status === 204 ? null : 'it has no body';
  }

  private readerOf(schema: Schema): z.ZodType {
    const key = JSON.stringify(schema);
    let reader = this.readers.get(key);
    if (reader === undefined) {
      reader = z.fromJSONSchema({ ...(strict(schema) as Schema), $defs: this.shapes } as z.core.JSONSchema.JSONSchema);
      this.readers.set(key, reader);
    }
    return reader;
  }
}

const errorContent = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } };

let description: ApiDescription | undefined;

/** @throws when the document does not have an answer as it is. */
export function assertDescribed(answer: SeenAnswer): void {
  description ??= ApiDescription.read();
  const fault = description.faultOf(answer);
  if (fault !== null) throw new Error(`docs/openapi.json does not describe an answer. ${fault}`);
}

function patternOf(template: string): RegExp {
  const source = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+');
  return new RegExp(`^${source}/?$`, 'i');
}

/**
 * A schema to be read by itself, its references among `$defs`. Published shapes are open, because changes are additive; for
 * a test, a field that nobody described is a fault.
 */
function strict(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^#\/components\/schemas\//, '#/$defs/');
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, strict(part)]));
  // Zod reads no relative references: it takes the format for that of whole URLs.
  if (inner.format === 'uri-reference') delete inner.format;
  const isOpenShape = inner.type === 'object' && inner.properties !== undefined && !('additionalProperties' in inner);
  return isOpenShape ? { ...inner, additionalProperties: false } : inner;
}
