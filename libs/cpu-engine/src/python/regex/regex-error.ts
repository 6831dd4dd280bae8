import { NodeFault } from '../../node-api/node-fault';

/** A pattern or replacement that Python's `re` refuses too. */
export class RegexSyntaxError extends NodeFault {}

/** A pattern that Python's `re` takes and this engine can not express. */
export class RegexUnsupported extends NodeFault {}
