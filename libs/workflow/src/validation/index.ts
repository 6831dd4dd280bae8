export { validateWorkflow } from './validation';
