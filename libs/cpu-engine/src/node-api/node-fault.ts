/** A node could not do what its inputs ask. The message is the workflow author's: one sentence with the cure. */
export class NodeFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NodeFault';
  }
}
