import { Prisma } from '@prisma/client';

/** A template as it was written: its texts, and between them its values. */
interface Template {
  text: TemplateStringsArray;
  values: readonly unknown[];
}

/** What a part holds: for `composeStatement` alone. */
interface Contents extends Template {
  name: string;
}

let contentsOf: (part: StatementPart) => Contents;

/**
 * A named step of one statement (a common table expression), for another lib to include in a statement of its own: the hold
 * of credits, say, in the statement that records a job. So several libs write in one statement, which commits as a whole, and
 * no SQL crosses the API of a lib.
 *
 * `Column` names the columns that the step offers. A part that offers more can stand where fewer are read.
 */
export class StatementPart<Column extends string = never> {
  /** For the compiler alone. */
  declare protected readonly offers: (column: Column) => void;
  readonly #contents: Contents;

  constructor(contents: Contents) {
    this.#contents = contents;
  }

  static {
    contentsOf = (part) => part.#contents;
  }
}

type PartTemplate<Column extends string> = (text: TemplateStringsArray, ...values: unknown[]) => StatementPart<Column>;

/**
 * Write a part. A part among the template's values stands for its relation: ``statementPart('b')`SELECT id FROM ${a}` ``
 * reads the part `a`, and brings it along into every statement that has `b`.
 *
 * @param name of the relation, unique within a statement.
 */
export function statementPart<Column extends string = never>(name: string): PartTemplate<Column> {
  return (text, ...values) => new StatementPart<Column>({ name, text, values });
}

/**
 * One statement of parts and a last query, a template that can read them: ``composeStatement([b])`SELECT id FROM ${a}` ``.
 * What a part reads comes with it and before it. PostgreSQL runs a part that writes whether or not it is read, but in no
 * order of its own: a part that must run after another selects from it.
 *
 * @param parts those that nothing else of the statement reads.
 * @throws Error when two different parts have one name.
 */
export function composeStatement(
  parts: readonly StatementPart[],
): (text: TemplateStringsArray, ...values: unknown[]) => Prisma.Sql {
  return (text, ...values) => {
    const ordered = new Map<string, StatementPart>();
    for (const part of [...parts, ...values.filter(isPart)]) addWithReads(part, ordered);
    const statement = new Composition();
    for (const [name, part] of ordered) {
      statement
        .write(`${statement.isEmpty ? 'WITH ' : ', '}${name} AS (`)
        .template(contentsOf(part))
        .write(')');
    }
    if (ordered.size > 0) statement.write(' ');
    return statement.template({ text, values }).sql();
  };
}

/** Templates one after the other. Flat from the start: a fragment within a fragment is copied once for each level. */
class Composition {
  private readonly texts = [''];
  private readonly values: unknown[] = [];

  get isEmpty(): boolean {
    return this.texts.length === 1 && this.texts[0] === '';
  }

  write(text: string): this {
    this.texts[this.texts.length - 1] += text;
    return this;
  }

  template({ text, values }: Template): this {
    this.write(text[0] ?? '');
    values.forEach((value, at) => {
      const after = text[at + 1] ?? '';
      if (isPart(value)) {
        this.write(contentsOf(value).name).write(after);
      } else {
        this.values.push(value);
        this.texts.push(after);
      }
    });
    return this;
  }

  sql(): Prisma.Sql {
    return Prisma.sql(this.texts, ...this.values);
  }
}

function addWithReads(part: StatementPart, ordered: Map<string, StatementPart>): void {
  const { name, values } = contentsOf(part);
  if (ordered.get(name) === part) return;
  for (const read of values.filter(isPart)) addWithReads(read, ordered);
  if (ordered.has(name)) throw new Error(`two parts of one statement are named ${name}`);
  ordered.set(name, part);
}

function isPart(value: unknown): value is StatementPart {
  return value instanceof StatementPart;
}
