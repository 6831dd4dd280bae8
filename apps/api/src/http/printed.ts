/**
 * The body of an answer as JSON text, for what holds JSON of a client: a number of 2^53 or more, or `7.0`, would change on its way
 * through a value. `T` is what a reader finds in it.
 */
export class Printed<T> {
  /** Only for the compiler: texts of different bodies are of different types. */
  declare readonly holds?: T;

  constructor(readonly text: string) {}
}
