import { createHash } from 'node:crypto';
import { Html, html, prose } from './html';
import {
  METHODS,
  type JsonSchema,
  type MediaType,
  type Method,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Reference,
  type ResponseObject,
} from './openapi-types';
import { REFERENCE_STYLE } from './reference-style';
import { linkTo, schemaTable, typeOf } from './schema-view';

/** What the page may load and do: its own style, and nothing else. */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(REFERENCE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Place {
  path: string;
  method: Method;
  operation: Operation;
}

/** The document as a page to read, made once: no scripts, and nothing that is fetched from anywhere. */
export function referencePage(document: OpenApiDocument): string {
  const places = placesOf(document);
  const style = new Html(`<style>${REFERENCE_STYLE}</style>`);
  const sections = document.tags.map(({ name, description }) => section(document, name, description, places));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title}</title>
        ${style}
      </head>
      <body>
        <a class="skip" href="#top">To the text</a>
        <div class="page">
          ${navigation(document, places)}
          <main id="top">
            <h1>${document.info.title} <small>${document.info.version}</small></h1>
            <p>${document.info.summary} <a href="openapi.json">openapi.json</a></p>
            ${prose(document.info.description)} ${sections}
            <h2 id="shapes">Shapes</h2>
            ${Object.entries(document.components.schemas).map(([name, schema]) => shape(name, schema))}
          </main>
        </div>
      </body>
    </html> `;
  return page.text;
}

function placesOf(document: OpenApiDocument): Place[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
}

function navigation(document: OpenApiDocument, places: Place[]): Html {
  const groups = document.tags.map(
    ({ name }) =>
      html`<h2>${name}</h2>
        <ul>
          ${places
            .filter(({ operation }) => operation.tags.includes(name))
            .map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}
        </ul>`,
  );
  const shapes = Object.keys(document.components.schemas).map(
    (name) => html`<li><a href="#shape-${name}">${name}</a></li>`,
  );
  return html`<nav aria-label="Operations">
    ${groups}
    <h2>shapes</h2>
    <ul>
      ${shapes}
    </ul>
  </nav>`;
}

function section(document: OpenApiDocument, tag: string, description: string, places: Place[]): Html {
  const own = places.filter(({ operation }) => operation.tags.includes(tag));
  return html`<h2 id="${tag}">${tag}</h2>
    ${prose(description)}${own.map((place) => article(document, place))}`;
}

function article(document: OpenApiDocument, { path, method, operation }: Place): Html {
  const { parameters = [], requestBody } = operation;
  return html` <article id="${operation.operationId}">
    <h3>${operation.summary}</h3>
    <p class="address">
      <code><span class="method ${method}">${method.toUpperCase()}</span> ${path}</code>
    </p>
    ${prose(operation.description)}
    ${parameters.length > 0 ? parameterTable(parameters.map((parameter) => resolved(document, parameter))) : html``}
    ${requestBody === undefined ? html`` : body('Body', requestBody.content)} ${events(operation)}
    ${responseTable(operation.responses)}
  </article>`;
}

function resolved(document: OpenApiDocument, parameter: Parameter | Reference): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const name = parameter.$ref.slice(parameter.$ref.lastIndexOf('/') + 1);
  const found = document.components.parameters[name];
  if (found === undefined) throw new Error(`the document has no parameter ${name}`);
  return found;
}

function parameterTable(parameters: Parameter[]): Html {
  const rows = parameters.map(
    (parameter) =>
      html`<tr>
        <th scope="row">
          <code>${parameter.name}</code><small>${parameter.in}${parameter.required ? '' : ', optional'}</small>
        </th>
        <td>${typeOf(parameter.schema)}</td>
        <td>${prose(parameter.description)}</td>
      </tr>`,
  );
  return html`<h4>Parameters</h4>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function body(title: string, content: Record<string, MediaType>): Html {
  const parts = Object.entries(content).map(([type, { schema, example }]) => {
    const shown = example === undefined ? html`` : html`<pre>${JSON.stringify(example, null, 2)}</pre>`;
    return html`<p><code>${type}</code> ${typeOf(schema)}</p>
      ${shown}`;
  });
  return html`<h4>${title}</h4>
    ${parts}`;
}

function events(operation: Operation): Html {
  const known = Object.entries(operation['x-sse-events'] ?? {});
  if (known.length === 0) return html``;
  const rows = known.map(
    ([name, { description, schema }]) =>
      html`<tr>
        <th scope="row"><code>${name}</code></th>
        <td>${linkTo(schema.$ref)}</td>
        <td>${prose(description)}</td>
      </tr>`,
  );
  return html`<h4>Events</h4>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function responseTable(responses: Record<string, ResponseObject>): Html {
  const rows = Object.entries(responses).map(
    ([status, response]) =>
      html`<tr>
        <th scope="row"><code>${status}</code></th>
        <td>${answerTypes(response)}</td>
        <td>${prose(response.description)}</td>
      </tr>`,
  );
  return html`<h4>Answers</h4>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function answerTypes({ content = {} }: ResponseObject): Html[] {
  return Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? html`<p>${typeOf(schema)}</p>` : html`<p><code>${type}</code></p>`,
  );
}

function shape(name: string, schema: JsonSchema): Html {
  const description = typeof schema.description === 'string' ? prose(schema.description) : html``;
  return html`<article id="shape-${name}">
    <h3>${name}</h3>
    ${description}${schemaTable(schema)}
  </article>`;
}
