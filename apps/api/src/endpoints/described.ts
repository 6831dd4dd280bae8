import type { z } from 'zod';

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A parameter that the handler reads itself: the definition only describes it. */
export interface DescribedParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly style?: 'deepObject';
  readonly explode?: boolean;
}

/** A body that the handler reads itself: the definition only describes it. */
export interface DescribedBody {
  readonly contentType: string;
  /** A schema of zod has a name in the document. */
  readonly schema: z.ZodType | JsonSchema;
  readonly encoding?: Readonly<Record<string, { contentType?: string; style?: 'form'; explode?: boolean }>>;
}

/** A header that an answer carries. */
export interface AnswerHeader {
  readonly description: string;
  /** It comes with every such answer. */
  readonly required?: true;
  readonly schema: JsonSchema;
}

/** One of the answers of an endpoint when all goes well. */
export interface Answer {
  readonly description: string;
  /** Shape of the JSON body; absent where there is none. */
  readonly schema?: z.ZodType;
  /** Bodies of other content types, by type. */
  readonly content?: Readonly<Record<string, JsonSchema>>;
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
}

/** An event of an answer that is a stream. */
export interface DescribedEvent {
  readonly description: string;
  readonly schema: z.ZodType;
}
