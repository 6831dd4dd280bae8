/** An import cannot go on. The message is a sentence for the owner of the model. */
export class ImportError extends Error {
  /** @param isFinal false: another attempt may succeed. */
  constructor(
    message: string,
    readonly isFinal: boolean,
  ) {
    super(message);
    this.name = 'ImportError';
  }
}
