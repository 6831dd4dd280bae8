export { codeOf, isAbort, isDiskFault, reasonOf, wasNotSent } from './error-facts';
export {
  CliFailure,
  EXIT,
  type ExitCode,
  type FailureFacts,
  failureOf,
  Interrupted,
  SaveFailure,
  ServiceFailure,
  ServiceRedirect,
  ServiceRefusal,
  UsageFailure,
} from './failure';
export type { Host, Output } from './host';
export { interruptible, leftAtOnce } from './interruptible';
export { makeFolder } from './make-folder';
export { openInPlace, savePlace } from './save-place';
export { VERSION } from './version';
