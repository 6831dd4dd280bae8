import { join } from 'node:path';
import { METHODS, type JsonSchema } from '../../endpoints';
import { html, pageStyle, prose, type Html } from '../../pages';
import type { OpenApiDocument } from '../openapi-types';
import { operationArticle, type Place } from './operation-article';
import { schemaTable } from './schema-view';

const STYLE = pageStyle(['reference.css', 'operations.css'].map((file) => join(__dirname, file)));

/** What the page may load and do. */
export const REFERENCE_POLICY = STYLE.policy;

/** The document as a page to read, made once: no scripts, and nothing that is fetched from anywhere. */
export function referencePage(document: OpenApiDocument): string {
  const places = placesOf(document);
  const sections = document.tags.map(({ name, description }) => section(document, name, description, places));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title}</title>
        ${STYLE.element}
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
    ${prose(description)}${own.map((place) => operationArticle(document, place))}`;
}

function shape(name: string, schema: JsonSchema): Html {
  const description = typeof schema.description === 'string' ? prose(schema.description) : html``;
  return html`<article id="shape-${name}">
    <h3><a class="anchor" href="#shape-${name}">${name}</a></h3>
    ${description}
    <div class="scroll">${schemaTable(schema)}</div>
  </article>`;
}
