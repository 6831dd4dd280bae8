import type { AnswerHeader, DescribedParameter, JsonSchema, Method } from '../endpoints';

/** The parts of an OpenAPI 3.1 document that these have. */
export interface OpenApiDocument {
  openapi: '3.1.0';
  info: { title: string; version: string; summary: string; description: string };
  servers: Server[];
  security: SecurityRequirement[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  components: {
    schemas: Record<string, JsonSchema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, object>;
  };
}

export interface Server {
  url: string;
  description: string;
  variables?: Record<string, { default: string; description: string }>;
}

export type SecurityRequirement = Record<string, string[]>;

export type PathItem = Partial<Record<Method, Operation>> & {
  /** Where the path is, if not on every surface. */
  servers?: Server[];
};

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security?: SecurityRequirement[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject>;
  /** Events of a stream: name to when it is sent and what its data is. */
  'x-sse-events'?: Record<string, { description: string; schema: Reference }>;
}

export interface Reference {
  $ref: string;
}

export interface Parameter extends Omit<DescribedParameter, 'in'> {
  in: 'path' | 'query' | 'header';
  example?: unknown;
}

export interface Header extends AnswerHeader {
  example?: string;
}

export interface MediaType {
  schema: JsonSchema;
  encoding?: Record<string, { contentType?: string; style?: 'form'; explode?: boolean }>;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, MediaType>;
  links?: Record<string, Link>;
}

/** What may be requested next; `parameters` by runtime expressions (OpenAPI 3.1, 4.8.20). */
export interface Link {
  operationId: string;
  parameters: Record<string, string>;
}
