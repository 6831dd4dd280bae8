export { runCommand } from './command.mjs';
export { Failure, Interrupted, sentenceOf, systemSentenceIn } from './failure.mjs';
export { misuse, oneOf, readCommandLine, readFlags, wholeNumber } from './flags.mjs';
export { pause, Scope } from './scope.mjs';
export { duration, say, task } from './terminal.mjs';
