export { JobReuse, notFound, type ReuseOutcome } from './reuse.service';
export { ReuseStore } from './reuse.store';
