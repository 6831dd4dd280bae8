import express, { type Request } from 'express';
import { RouteTable } from './route-table';

const app = express();
app.enable('strict routing');
app.get('/jobs', () => undefined);
app.get('/jobs/:id', () => undefined);
const routes = new RouteTable(app);
const refusal = (path: string, method = 'GET'): string => {
  const { status, message } = routes.refusalOf({ path, method } as Request);
  return `${status} ${message}`;
};

describe('a path that no route takes', () => {
  it('is no list when it ends with a slash, with any method: the id is missing', () => {
    const said = '404 There is nothing at /jobs/: put the id behind the slash, or leave the slash out.';
    expect([refusal('/jobs/'), refusal('/jobs/', 'PUT')]).toEqual([said, said]);
  });

  it('is unknown, or has other methods', () => {
    expect(refusal('/nothing/')).toBe('404 There is nothing at /nothing/.');
    expect(refusal('/jobs/1', 'PUT')).toBe('405 PUT is not supported here; use GET, HEAD.');
  });
});
