import { Html, html, prose } from '../../pages';
import type { JsonSchema } from '../../endpoints';

/** A shape's fields, one a row; shapes inside it by name have a place of their own. */
export function schemaTable(schema: JsonSchema): Html {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = new Set((schema.required ?? []) as string[]);
  if (properties.length === 0) return html`<p>${typeOf(schema)}</p>`;
  const rows = properties.map(
    ([name, field]) =>
      html` <tr>
        <th scope="row"><code>${name}</code>${required.has(name) ? html`` : html`<small>optional</small>`}</th>
        <td>${typeOf(field)}</td>
        <td>${noteOf(field)}</td>
      </tr>`,
  );
  return html`<table>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** A type in a few words, with a link where it has a name. */
export function typeOf(schema: JsonSchema): Html {
  if (typeof schema.$ref === 'string') return linkTo(schema.$ref);
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices !== undefined) return joined(choices.map(typeOf), ' or ');
  if ('const' in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (Array.isArray(schema.enum))
    return joined(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      ' ',
    );
  const types = [schema.type ?? 'anything'].flat().map(String);
  return joined(
    types.map((type) => plainTypeOf(type, schema)),
    ' or ',
  );
}

function plainTypeOf(type: string, schema: JsonSchema): Html {
  if (type === 'array') return html`list of ${typeOf((schema.items ?? {}) as JsonSchema)}`;
  const values = schema.additionalProperties;
  if (type === 'object' && typeof values === 'object' && values !== null && schema.properties === undefined) {
    return html`map to ${typeOf(values as JsonSchema)}`;
  }
  if (type === 'object' && schema.properties !== undefined) return html`object: ${schemaTable(schema)}`;
  return typeof schema.format === 'string' && type !== 'null'
    ? html`${type} <small>${schema.format}</small>`
    : html`${type}`;
}

function noteOf(schema: JsonSchema): Html {
  const description = typeof schema.description === 'string' ? prose(schema.description) : html``;
  const bounds = [
    typeof schema.minimum === 'number' ? `at least ${schema.minimum}` : '',
    typeof schema.maximum === 'number' ? `at most ${schema.maximum}` : '',
    schema.default === undefined ? '' : `else ${JSON.stringify(schema.default)}`,
  ].filter((bound) => bound !== '');
  return html`${description}${bounds.length > 0 ? html`<small>${bounds.join(', ')}</small>` : html``}`;
}

/** A link to where a shape has its place. */
export function linkTo(reference: string): Html {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return html`<a href="#shape-${name}">${name}</a>`;
}

export function joined(pieces: readonly Html[], separator: string): Html {
  return new Html(pieces.map((piece) => piece.text).join(separator));
}
