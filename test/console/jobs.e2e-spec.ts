import { batches } from './suites/batches';
import { jobLife } from './suites/job-life';
import { jobList } from './suites/job-list';
import { playground } from './suites/playground';
import { rescue } from './suites/rescue';
import { ConsoleStack } from './support/console-stack';

const shared = new ConsoleStack({ workers: 1 });

jobLife(shared);
jobList(shared);
rescue(shared);
batches(shared);
playground(shared);
