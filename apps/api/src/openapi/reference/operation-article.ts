import type { Method } from '../../endpoints';
import type { MediaType, OpenApiDocument, Operation, Parameter, Reference, ResponseObject } from '../openapi-types';
import { curlExample } from './curl-example';
import { html, prose, type Html } from '../../pages';
import { joined, linkTo, typeOf } from './schema-view';

/** An operation and where it is. */
export interface Place {
  path: string;
  method: Method;
  operation: Operation;
}

/** What there is to read of an operation: what it is for, an example, and tables of what goes in and comes out. */
export function operationArticle(document: OpenApiDocument, { path, method, operation }: Place): Html {
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
