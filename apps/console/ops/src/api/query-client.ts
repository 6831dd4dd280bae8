import type { QueryClient } from '@tanstack/react-query';
import { createQueryClient } from '../../../src/api/query-client';
import { sessionQuery } from './session';

export const queryClient: QueryClient = createQueryClient(sessionQuery.queryKey);
