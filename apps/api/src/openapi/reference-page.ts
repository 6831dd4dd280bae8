import { createHash } from 'node:crypto';
import { curlExample } from './curl-example';
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
import { joined, linkTo, schemaTable, typeOf } from './schema-view';

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
            <header class="hero">
              <h1>${document.info.title} <span class="chip">${document.info.version}</span></h1>
              <p class="lead">${document.info.summary}</p>
              <p><a class="button" href="openapi.json">OpenAPI document</a></p>
            </header>
            ${prose(document.info.description)}
            <p>
              Examples take <code>$MILLRACE_URL</code>, where the service is, and <code>$MILLRACE_KEY</code>, an API
              key, from the environment.
            </p>
            ${sections}
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

/** Open beside a wide page; folded away on a narrow one until it is asked for. */
function navigation(document: OpenApiDocument, places: Place[]): Html {
  const groups = document.tags.map(
    ({ name }) =>
      html`<h2>${name}</h2>
        <ul>
          ${places.filter(({ operation }) => operation.tags.includes(name)).map(navigationItem)}
        </ul>`,
  );
  const shapes = Object.keys(document.components.schemas).map(
    (name) => html`<li><a href="#shape-${name}">${name}</a></li>`,
  );
  const contents = html`${groups}
    <h2>shapes</h2>
    <ul>
      ${shapes}
    </ul>`;
  return html`<nav aria-label="Operations">
    <a class="brand" href="#top">${document.info.title}</a>
    <div class="wide">${contents}</div>
    <details class="narrow">
      <summary>Contents</summary>
      ${contents}
    </details>
  </nav>`;
}

function navigationItem({ method, operation }: Place): Html {
  return html`<li>
    <a href="#${operation.operationId}"
      ><span class="method ${method}">${method === 'delete' ? 'DEL' : method.toUpperCase()}</span
      ><span>${operation.summary}</span></a
    >
  </li>`;
}

function section(document: OpenApiDocument, tag: string, description: string, places: Place[]): Html {
  const own = places.filter(({ operation }) => operation.tags.includes(tag));
  return html`<h2 id="${tag}">${tag}</h2>
    ${prose(description)}${own.map((place) => article(document, place))}`;
}

function article(document: OpenApiDocument, { path, method, operation }: Place): Html {
  const { requestBody } = operation;
  const parameters = (operation.parameters ?? [])
    // Every operation takes it; the text above the operations says so once.
    .filter((parameter) => !('$ref' in parameter) || !parameter.$ref.endsWith('/RequestId'))
    .map((parameter) => resolved(document, parameter));
  const open = operation.security?.length === 0 ? html`<span class="chip">no credential</span>` : html``;
  return html` <article id="${operation.operationId}">
    <h3><a class="anchor" href="#${operation.operationId}">${operation.summary}</a> ${open}</h3>
    <p class="address"><span class="method ${method}">${method.toUpperCase()}</span><code>${breakable(path)}</code></p>
    ${prose(operation.description)}
    <pre tabindex="0">${curlExample(path, method, operation)}</pre>
    ${parameters.length > 0 ? parameterTable(parameters) : html``}
    ${requestBody === undefined ? html`` : body('Body', requestBody.content)} ${events(operation)}
    ${responseTables(operation.responses)}
  </article>`;
}

/** A path may break after a slash, and nowhere else. */
function breakable(path: string): Html {
  return joined(
    path.split('/').map((part) => html`${part}`),
    '/<wbr />',
  );
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
  return table('Parameters', rows);
}

function table(title: string, rows: Html[]): Html {
  return html`<h4>${title}</h4>
    <div class="scroll">
      <table>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
}

function body(title: string, content: Record<string, MediaType>): Html {
  const parts = Object.entries(content).map(
    ([type, { schema }]) => html`<p><code>${type}</code> ${typeOf(schema)}</p>`,
  );
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
  return table('Events', rows);
}

/** What succeeds stands open; the many ways to be refused are a line until somebody asks. */
function responseTables(responses: Record<string, ResponseObject>): Html {
  const all = Object.entries(responses).sort(([a], [b]) => a.localeCompare(b));
  const successes = all.filter(([status]) => status < '400');
  const refusals = all.filter(([status]) => status >= '400');
  const statuses = joined(
    refusals.map(([status]) => statusChip(status)),
    ' ',
  );
  return html`${table('Answers', successes.map(responseRow))}
    <details class="refusals">
      <summary>Refusals ${statuses}</summary>
      <p>Each is an <a href="#shape-ErrorEnvelope">ErrorEnvelope</a>; decide by its <code>code</code>.</p>
      <div class="scroll">
        <table>
          <tbody>
            ${refusals.map(
              ([status, { description }]) =>
                html`<tr>
                  <th scope="row">${statusChip(status)}</th>
                  <td>${prose(description)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
}

function responseRow([status, response]: [string, ResponseObject]): Html {
  return html`<tr>
    <th scope="row">${statusChip(status)}</th>
    <td>${answerTypes(response)}</td>
    <td>${prose(response.description)}</td>
  </tr>`;
}

function statusChip(status: string): Html {
  return html`<span class="status s${status.charAt(0)}">${status}</span>`;
}

function answerTypes({ content = {} }: ResponseObject): Html[] {
  return Object.entries(content).map(([type, { schema }]) =>
    type === 'application/json' ? html`<p>${typeOf(schema)}</p>` : html`<p><code>${type}</code></p>`,
  );
}

function shape(name: string, schema: JsonSchema): Html {
  const description = typeof schema.description === 'string' ? prose(schema.description) : html``;
  return html`<article id="shape-${name}">
    <h3><a class="anchor" href="#shape-${name}">${name}</a></h3>
    ${description}
    <div class="scroll">${schemaTable(schema)}</div>
  </article>`;
}
