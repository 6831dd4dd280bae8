export { runCommand } from './command.mjs';
export { Failure, Interrupted, sentenceOf, systemSentenceIn } from './failure.mjs';
export { misuse, oneOf, readCommandLine, readFlags, wholeNumber } from './flags.mjs';
export { Scope, pause, reasonOf } from './scope.mjs';
export { duration, onTaskDone, say, task } from './terminal.mjs';
