/**
 * This worker does not reach what its attempt needs. That is no fault of the job, nor of the store: another worker may reach it. Its `code`
 * is one of those by which a failure counts as one that passes (`isTransient`), as that of a database which is away.
 */
export class OutOfReach extends Error {
  readonly code = 'ECONNRESET';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutOfReach';
  }
}
