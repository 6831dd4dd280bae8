export { ERASED_AGAIN, runDrill } from './drill.mjs';
