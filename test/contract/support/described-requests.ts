import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

const DOCS = join(__dirname, '../../../docs');
const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const;

/** A request before it is put on the wire: nothing of it need be sound. */
export interface FuzzRequest {
  method: string;
  /** Path and query, escaped so that they fit a request line. */
  target: string;
  headers: Record<string, string>;
  body: string;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
}
interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  style?: string;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Document {
  paths: Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>;
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

/** Texts that parsers, paths and databases have stumbled over. */
export const nasty = fc.oneof(
  fc.string({ maxLength: 20, unit: 'binary' }),
  fc.constantFrom('%00', '%', '%ff', '..%2f..', "'--", '\\', '${7*7}', '%F0%9F%98%80', '[]', '*', '__proto__', 'null'),
);

/** Requests as a document of docs/ describes them, one value in six being another than described. */
export class DescribedRequests {
  private readonly document: Document;

  /** @param knownIds ids of things that are there, for the paths. */
  constructor(
    file: 'openapi.json' | 'platform-openapi.json',
    private readonly knownIds: string[],
  ) {
    this.document = JSON.parse(readFileSync(join(DOCS, file), 'utf8')) as Document;
  }

  /** A request to any operation. */
  any(): fc.Arbitrary<FuzzRequest> {
    const operations = Object.entries(this.document.paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        return operation === undefined ? [] : [this.of(method, path, operation)];
      }),
    );
    return fc.oneof(...operations);
  }

  private of(method: string, path: string, operation: Operation): fc.Arbitrary<FuzzRequest> {
    const parameters = (operation.parameters ?? []).map((parameter) => this.parameterOf(parameter));
    const named = (where: Parameter['in']): fc.Arbitrary<Record<string, unknown>> => {
      const chosen = parameters.filter((parameter) => parameter.in === where);
      const values = chosen.map(({ name, schema }) => [name, this.orNasty(this.parameterValue(name, schema))] as const);
      return fc.record(Object.fromEntries(values), where === 'path' ? {} : { requiredKeys: [] });
    };
    return fc
      .record({ path: named('path'), query: named('query'), headers: named('header'), body: this.bodyOf(operation) })
      .map(({ body, ...values }) => ({
        method: method.toUpperCase(),
        target: targetOf(path, values.path, values.query),
        headers: { ...body.headers, ...textsOf(values.headers) },
        body: body.text,
      }));
  }

  private parameterOf(parameter: Parameter): Parameter {
    const name = parameter.$ref?.split('/').at(-1);
    const found = name === undefined ? parameter : this.document.components.parameters?.[name];
    if (found === undefined) throw new Error(`the document has no parameter ${name}`);
    return found;
  }

  private parameterValue(name: string, schema: Schema): fc.Arbitrary<unknown> {
    const any = this.valueOf(schema);
    return name === 'id' ? fc.oneof(fc.constantFrom(...this.knownIds), any) : any;
  }

  private bodyOf({ requestBody }: Operation): fc.Arbitrary<{ text: string; headers: Record<string, string> }> {
    const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    if (type === undefined || content === undefined) return fc.constant({ text: '', headers: {} });
    const value = this.orNasty(this.valueOf(content.schema));
    if (type !== 'multipart/form-data') {
      return value.map((json) => ({
        text: type === 'application/json' ? JSON.stringify(json) : String(json),
        headers: { 'Content-Type': type },
      }));
    }
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    return value.map((fields) => ({ text: formOf(fields), headers }));
  }

  private orNasty(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
    return fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.oneof(nasty, fc.jsonValue()) });
  }

  private valueOf(schema: Schema): fc.Arbitrary<unknown> {
    const name = schema.$ref?.split('/').at(-1);
    if (name !== undefined) return this.valueOf(this.document.components.schemas[name] ?? {});
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.const !== undefined) return fc.constant(schema.const);
    const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
    if (choices !== undefined) return fc.oneof(...choices.map((choice) => this.valueOf(choice)));
    const types = [schema.type].flat().filter((type) => type !== undefined);
    return types.length === 0 ? fc.jsonValue() : fc.oneof(...types.map((type) => this.valueOfType(type, schema)));
  }

  private valueOfType(type: string, schema: Schema): fc.Arbitrary<unknown> {
    switch (type) {
      case 'object':
        return this.objectOf(schema);
      case 'array':
        return fc.array(this.valueOf(schema.items ?? {}), { maxLength: 4 });
      case 'integer':
      case 'number':
        return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 10_000 });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return textOf(schema);
    }
  }

  private objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
    const known = Object.entries(properties).map(([key, inner]) => [key, this.orNasty(this.valueOf(inner))] as const);
    const record = fc.record(Object.fromEntries(known), { requiredKeys: required.filter((key) => key in properties) });
    if (additionalProperties === undefined || additionalProperties === false) return record;
    const inner = additionalProperties === true ? fc.jsonValue() : this.valueOf(additionalProperties);
    const more = fc.dictionary(fc.oneof(nasty, fc.string({ maxLength: 10 })), this.orNasty(inner), { maxKeys: 4 });
    return fc.tuple(record, more).map(([one, other]) => ({ ...one, ...other }));
  }
}

function textOf({ format, pattern, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ maxLength });
}

function targetOf(template: string, path: Record<string, unknown>, query: Record<string, unknown>): string {
  const whole = template.replace(/\{(\w+)\}/g, (_, name: string) => escaped(path[name]) || '%20');
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    // The one parameter that is an object is written as the document says: name[key]=value.
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, inner]) => `${name}[${escaped(key)}]=${escaped(inner)}`)
      : [`${name}=${escaped(value)}`],
  );
  return pairs.length === 0 ? whole : `${whole}?${pairs.join('&')}`;
}

/** Escapes that a text has already are left, sound or not; what cannot stand in a request line is escaped. */
function escaped(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [...text.toWellFormed()].map((unit) => (/[!-~]/.test(unit) ? unit : encodeURIComponent(unit))).join('');
}

function textsOf(values: Record<string, unknown>): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    // A header holds visible bytes; others are the business of the byte mutations.
    (typeof value === 'string' ? value : JSON.stringify(value)).replace(/[^ -~\x80-\xff]/g, '?').trim(),
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

function formOf(fields: unknown): string {
  const entries = typeof fields === 'object' && fields !== null ? Object.entries(fields) : [['file', fields]];
  const parts = entries.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown) => {
      const text = typeof one === 'string' ? one : JSON.stringify(one);
      const fileName = name === 'file' ? '; filename="f"' : '';
      return `--b\r\nContent-Disposition: form-data; name="${String(name)}"${fileName}\r\n\r\n${text}\r\n`;
    }),
  );
  return `${parts.join('')}--b--\r\n`;
}
