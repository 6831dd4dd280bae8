export { JobReuse, notFound, type ReuseOutcome } from './reuse.service';
export { ReuseStore, type ReuseSource } from './reuse.store';
