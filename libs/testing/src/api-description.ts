import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const DOCS = join(__dirname, '../../../docs');
const MOUNT = /^\/deployment\/[^/]+(?=\/api\/)/;
/** The documents, and the paths that each describes. */
const DOCUMENTS = [
  { file: 'openapi.json', paths: /^\/(api\/v2|content|upload-parts)(\/|$)/ },
  { file: 'platform-openapi.json', paths: /^\/platform\/v1(\/|$)/ },
  { file: 'admin-openapi.json', paths: /^\/admin\/v1(\/|$)/ },
];

type Schema = Record<string, unknown>;

interface DescribedHeader {
  required?: boolean;
  schema: Schema;
}
interface DescribedResponse {
  headers?: Record<string, DescribedHeader | { $ref: string }>;
  content?: Record<string, { schema: Schema }>;
}
interface DescribedOperation {
  operationId: string;
  responses: Record<string, DescribedResponse>;
  'x-sse-events'?: Record<string, { schema: Schema }>;
}
interface ApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, DescribedHeader> };
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
 * Holds answers to a document of docs/: the status is one that the operation has, every header that always comes is there,
 * the body has its shape, and no field that the document does not know.
 */
export class ApiDescription {
  private readonly shapes: Schema;
  private readonly readers = new Map<string, z.ZodType>();
  private readonly routes: { template: string; pattern: RegExp; operations: Record<string, DescribedOperation> }[];

  constructor(private readonly document: ApiDocument) {
    this.shapes = strict(document.components.schemas) as Schema;
    this.routes = Object.entries(document.paths)
      .map(([template, operations]) => ({ template, pattern: patternOf(template), operations }))
      // A path without parameters comes before one that would take its last part for a parameter.
      .sort((a, b) => a.template.split('{').length - b.template.split('{').length);
  }

  static read(file: string): ApiDescription {
    return new ApiDescription(JSON.parse(readFileSync(join(DOCS, file), 'utf8')) as ApiDocument);
  }

  /** What is wrong with an answer, in a sentence; null when the document has it as it is. */
  faultOf(answer: SeenAnswer): string | null {
    const path = pathOf(answer);
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
    return this.faultOfHeaders(answer, response) ?? this.faultOfBody(answer, response);
  }

  private faultOfHeaders({ headers: seen }: SeenAnswer, { headers = {} }: DescribedResponse): string | null {
    for (const [name, described] of Object.entries(headers)) {
      const header = this.headerOf(described);
      const value = seen[name.toLowerCase()];
      if (value === undefined && header.required === true) return `it has no ${name}`;
      const read = header.schema.type === 'integer' ? Number(value) : value;
      const fits = value === undefined || this.readerOf(header.schema).safeParse(read).success;
      if (!fits) return `${name} is ${value}`;
    }
    return null;
  }

  private headerOf(described: DescribedHeader | { $ref: string }): DescribedHeader {
    if (!('$ref' in described)) return described;
    const name = described.$ref.slice(described.$ref.lastIndexOf('/') + 1);
    const found = this.document.components.headers[name];
    if (found === undefined) throw new Error(`the document has no header ${name}`);
    return found;
  }

  /** What is wrong with a frame of a job's event stream, in a sentence; null when the document has it as it is. */
  faultOfEvent(name: string, data: string): string | null {
    const operations = Object.values(this.document.paths).flatMap((item) => Object.values(item));
    const schema = operations.map((operation) => operation['x-sse-events']?.[name]?.schema).find(Boolean);
    if (schema === undefined) return `the event ${name} is not in the document`;
    const { error } = this.readerOf(schema).safeParse(JSON.parse(data));
    return error === undefined ? null : `the event ${name} is not as it should be: ${z.prettifyError(error)}`;
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

const descriptions = new Map<string, ApiDescription>();

function descriptionIn(file: string): ApiDescription {
  const description = descriptions.get(file) ?? ApiDescription.read(file);
  descriptions.set(file, description);
  return description;
}

/** @throws when the document of the answer's path describes another answer. */
export function assertDescribed(answer: SeenAnswer): void {
  const file = DOCUMENTS.find(({ paths }) => paths.test(pathOf(answer)))?.file;
  if (file === undefined) return;
  const fault = descriptionIn(file).faultOf(answer);
  if (fault !== null) throw new Error(`docs/${file} does not describe an answer. ${fault}`);
}

function pathOf({ path }: SeenAnswer): string {
  return (path.split('?')[0] ?? '').replace(MOUNT, '');
}

/** Hold a frame of a job's event stream to the document. @throws when it is not in it as it is. */
export function assertEventDescribed(name: string, data: string): void {
  const fault = descriptionIn('openapi.json').faultOfEvent(name, data);
  if (fault !== null) throw new Error(`docs/openapi.json does not describe an event: ${fault}`);
}

/**
 * A fetch that holds every answer of `origin` to the document, for clients that bring no hook of their own. Answers come
 * through untouched; bodies are read only where they are JSON.
 */
export function describedFetch(origin: string, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    const request = new Request(input, { method: init?.method });
    const url = new URL(request.url);
    if (url.origin !== origin || response.redirected) return response;
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
    assertDescribed({
      method: request.method,
      path: url.pathname + url.search,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: isJson ? await response.clone().text() : null,
    });
    return response;
  };
}

function patternOf(template: string): RegExp {
  const source = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+');
  return new RegExp(`^${source}$`, 'i');
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
