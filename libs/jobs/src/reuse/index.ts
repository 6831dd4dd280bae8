export { JobReuse, notFound, type ReuseOutcome, type ReuseSearch } from './reuse.service';
export { ReuseStore, type ReuseSource } from './reuse.store';
