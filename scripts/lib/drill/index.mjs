export { runDrill } from './drill.mjs';
