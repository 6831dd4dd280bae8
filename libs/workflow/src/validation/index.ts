export { mayLoadFromLibrary, sortFaults, type SortedFaults, type UnlistedModel } from './unlisted-models';
export { validateWorkflow } from './validation';
